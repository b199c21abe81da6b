"""Native columns: each container that can hold a column, behind one interface."""
