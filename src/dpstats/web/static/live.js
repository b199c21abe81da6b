// What pages do beside showing themselves; all of them work without it.
"use strict";
