"""Pages: plain values shown by templates; whatever stands in them is escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from dpstats.web.complaints import ComplaintError
from dpstats.web.figures.filters import FIGURES
from dpstats.web.people.roles import Role, Visitor
from dpstats.web.routes import Plain
from dpstats.web.words import FILTERS

if TYPE_CHECKING:
    from dpstats.web.office import Office


class Pages:
    """The templates of the service."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._templates = Environment(
            loader=PackageLoader("dpstats.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update({**FILTERS, **FIGURES})

    def shown(self, template: str, values: Plain, visitor: Visitor | None, path: str, status: int = 200) -> HTMLResponse:
        """A page."""
        given: dict[str, Any] = {
            "title": self._office.settings.title,
            "origin": self._office.settings.origin,
            "visitor": visitor,
            "roles": {each.value for each in Role if visitor is not None and each in visitor.roles},
            "path": path,
            "view": values,
        }
        return HTMLResponse(self._templates.get_template(template).render(given), status)

    def complaint(self, complaint: ComplaintError, visitor: Visitor | None, path: str, back: str = "") -> HTMLResponse:
        """A page that says what is wrong, and what to do."""
        values = {"status": complaint.status, "message": complaint.message, "back": back}
        return self.shown("complaint.html", values, visitor, path, complaint.status)
