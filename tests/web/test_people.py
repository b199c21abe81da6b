"""Administrators: they say who may sign in, and see no answer."""

from __future__ import annotations

import pytest

from tests.web.conftest import Service

PASSWORD = "a long password"


def test_somebody_new_signs_in_and_a_change_of_roles_ends_that(service: Service) -> None:
    with service.visit("olga") as olga:
        body = {"name": "bea", "password": PASSWORD, "roles": ["analyst"]}
        assert olga.post("/admin/people", data=body).headers["location"] == "/admin"
        service.demo.passwords["bea"] = PASSWORD
        with service.visit("bea") as bea:
            assert bea.get("/me.json").status_code == 200
            changed = olga.post("/admin/people/roles", json={"name": "bea", "roles": ["analyst", "auditor"]}).json()
            assert changed["roles"] == ["analyst", "auditor"]
            assert bea.get("/me.json").status_code == 401
        olga.post("/admin/people/password", json={"name": "bea", "password": "another long password"})
        service.demo.passwords["bea"] = "another long password"
        token = service.with_token("bea")
        with service.visit("bea") as bea, token:
            olga.post("/admin/people/bar", data={"name": "bea", "barred": "true"})
            assert bea.get("/me.json").status_code == token.get("/me.json").status_code == 401
        olga.post("/admin/people/bar", json={"name": "bea", "barred": False})
        service.visit("bea").close()


@pytest.mark.parametrize(
    ("path", "body"),
    [("roles", {"roles": ["owner"]}), ("roles", {"roles": []}), ("roles", {"roles": ["king"]}), ("bar", {"barred": True})],
)
def test_the_last_administrator_stays_one(service: Service, path: str, body: dict[str, object]) -> None:
    with service.visit("olga") as olga:
        assert olga.post(f"/admin/people/{path}", json={"name": "olga", **body}).status_code == 422
        assert olga.get("/admin.json").status_code == 200


def test_another_administrator_takes_the_role_away(service: Service) -> None:
    with service.visit("olga") as olga:
        olga.post("/admin/people", json={"name": "bo", "password": PASSWORD, "roles": ["admin"]})
        service.demo.passwords["bo"] = PASSWORD
        with service.visit("bo") as bo:
            assert bo.post("/admin/people/roles", json={"name": "bo", "roles": ["analyst"]}).status_code == 200
        assert olga.get("/admin.json").status_code == 200


def test_a_token_changes_nobody(service: Service) -> None:
    with service.with_token("olga") as program:
        assert program.get("/admin.json").status_code == 200
        for path, body in (
            ("", {"name": "eve", "password": PASSWORD, "roles": ["admin"]}),
            ("/roles", {"name": "ana", "roles": ["admin"]}),
            ("/password", {"name": "olga", "password": PASSWORD}),
            ("/bar", {"name": "ana", "barred": True}),
        ):
            assert program.post(f"/admin/people{path}", json=body).status_code == 403


def test_names_are_escaped_and_no_digest_is_shown(service: Service) -> None:
    with service.visit("olga") as olga:
        olga.post("/admin/people", json={"name": "<b>bold</b>", "password": PASSWORD, "roles": ["analyst"]})
        page = olga.get("/admin").text
        assert "<b>bold</b>" not in page
        assert "&lt;b&gt;bold&lt;/b&gt;" in page
        assert "argon2" not in page + olga.get("/admin.json").text


def test_an_administrator_sees_no_data_set(service: Service) -> None:
    with service.visit("olga") as olga:
        olga.post("/admin/people", json={"name": "adam", "password": PASSWORD, "roles": ["admin"]})
    service.demo.passwords["adam"] = PASSWORD
    with service.visit("adam") as adam:
        assert {adam.get(path).status_code for path in ("/own", "/own/survey.json", "/own/survey/answers/1.json")} == {403}
        assert "survey" not in adam.get("/admin.json").text
