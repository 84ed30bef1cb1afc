"""Browsers that a server has admitted: test clients with a session."""

from __future__ import annotations

from flask import Flask
from flask.testing import FlaskClient

from gviz.app.server.access.security import AccessRules

LOCAL = {"Host": "localhost"}


def admit(client: FlaskClient, access: AccessRules) -> FlaskClient:
    """Have a client open a fresh link; return the client."""
    answer = client.get(f"{access.prefix}?code={access.admission.new_code()}", headers=LOCAL)
    assert answer.status_code == 302, answer.text
    return client


def admitted_client(server: Flask, access: AccessRules) -> FlaskClient:
    """Return a client of a server that has a session."""
    return admit(server.test_client(), access)
