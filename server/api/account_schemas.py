"""What goes in and out of the API's routes for teams, tokens, webhooks and the log."""

from __future__ import annotations

from apiflask import Schema, fields
from apiflask.validators import Length, OneOf, Range

from server.api.paging import PageQuery, chosen_filter, text_filter
from server.audit_log import ACTIONS
from server.auth import MOST_DAYS, ROLES


class MeOut(Schema):
    """Who the token belongs to, the name that others read, and what is left of its day."""

    team = fields.String(required=True)
    role = fields.String(required=True)
    token_id = fields.Integer(required=True)
    alias = fields.String(allow_none=True, required=True, metadata={"description": "What others read for now."})
    alias_until = fields.AwareDateTime(allow_none=True, required=True)
    submissions_today = fields.Integer(required=True)
    submissions_per_day = fields.Integer(required=True, metadata={"description": "0 means no limit."})


class AliasIn(Schema):
    """The name that others read in place of the team's, and until when."""

    alias = fields.String(required=True, validate=Length(max=200))
    until = fields.AwareDateTime(required=True, default_timezone=None)


class TeamIn(Schema):
    """A name for a new team."""

    team = fields.String(required=True, validate=Length(max=200))


class NewTeamIn(TeamIn):
    """A name, and the role of the first token."""

    role = fields.String(load_default="team", validate=OneOf(list(ROLES)))


class SecretOut(Schema):
    """A token, shown this once."""

    team = fields.String(required=True)
    token = fields.String(required=True)


class TeamItem(Schema):
    """A team."""

    id = fields.Integer(required=True)
    name = fields.String(required=True)
    created_at = fields.AwareDateTime(required=True)


class TeamsOut(Schema):
    """All teams, by name."""

    teams = fields.List(fields.Nested(TeamItem), required=True)


class DeletedOut(Schema):
    """What went with a team."""

    team = fields.String(required=True)
    submissions = fields.Integer(required=True)
    evaluations = fields.Integer(required=True)
    blobs = fields.Integer(required=True)


class TokenIn(Schema):
    """What the token is called, and how long it works."""

    label = fields.String(load_default="", validate=Length(max=80))
    days = fields.Integer(load_default=None, allow_none=True, validate=Range(min=0, max=MOST_DAYS))


class TokenItem(Schema):
    """A token, without its text."""

    id = fields.Integer(required=True)
    label = fields.String(required=True)
    role = fields.String(required=True)
    created_at = fields.AwareDateTime(required=True)
    expires_at = fields.AwareDateTime(allow_none=True, required=True)
    revoked_at = fields.AwareDateTime(allow_none=True, required=True)


class TokenOut(TokenItem):
    """One token."""


class NewTokenOut(TokenItem):
    """A token with its text, shown this once."""

    token = fields.String(required=True)


class TokensOut(Schema):
    """The team's tokens, newest first."""

    tokens = fields.List(fields.Nested(TokenItem), required=True)


class WebhookIn(Schema):
    """Where to send messages."""

    url = fields.String(required=True, validate=Length(max=500))


class WebhookItem(Schema):
    """A webhook, without its secret."""

    id = fields.Integer(required=True)
    url = fields.String(required=True)
    created_at = fields.AwareDateTime(required=True)


class NewWebhookOut(WebhookItem):
    """A webhook with the secret that signs its messages, shown this once."""

    secret = fields.String(required=True)


class WebhooksOut(Schema):
    """The team's webhooks, oldest first."""

    webhooks = fields.List(fields.Nested(WebhookItem), required=True)


class DeliveryItem(Schema):
    """One message to an address, and how it went."""

    id = fields.Integer(required=True)
    event = fields.String(required=True)
    state = fields.String(required=True, validate=OneOf(["queued", "delivered", "failed"]))
    attempts = fields.Integer(required=True)
    reason = fields.String(allow_none=True, required=True)
    created_at = fields.AwareDateTime(required=True)
    finished_at = fields.AwareDateTime(allow_none=True, required=True)


class DeliveryOut(DeliveryItem):
    """One message."""


class DeliveriesOut(Schema):
    """The newest messages to an address."""

    deliveries = fields.List(fields.Nested(DeliveryItem), required=True)


class LogQuery(PageQuery):
    """Which part of the log."""

    subject = text_filter(120)
    team = text_filter(80)
    action = chosen_filter(*ACTIONS)
    since = fields.Date(load_default=None, metadata={"description": "First day, UTC."})
    until = fields.Date(load_default=None, metadata={"description": "Last day, UTC."})


class LogItem(Schema):
    """One thing that was done."""

    id = fields.Integer(required=True)
    at = fields.AwareDateTime(required=True)
    actor = fields.String(required=True)
    team = fields.String(allow_none=True, required=True)
    team_id = fields.Integer(allow_none=True, required=True)
    token_id = fields.Integer(allow_none=True, required=True)
    action = fields.String(required=True)
    subject = fields.String(required=True)
    details = fields.Dict(keys=fields.String(), required=True)


class LogOut(Schema):
    """Events, newest first."""

    events = fields.List(fields.Nested(LogItem), required=True)
