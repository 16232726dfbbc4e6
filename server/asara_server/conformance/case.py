"""The form of a case: its settings, a script for each stream, and what is expected at the end.

A script is a list of steps; the first key of a step names its kind, as in `- ask: m1`.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from asara_server.conformance.level import Level

MutationName = Literal[
    "unknown-fields",
    "unknown-events",
    "unknown-values",
    "padding",
    "another-secret",
    "another-commitment",
    "no-nonce",
    "no-secret",
]
"""A change of a message before it is sent; `mutations` has a function for each."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


# Settings


class MatchSettings(_Strict):
    """A match that the referee plays with the program; the referee itself plays the other seats."""

    seats: int = 2
    seat: int = 0
    """Seat of the program."""
    rules: str = "basic"
    joint: bool = False
    """True if the program is asked for a nonce."""
    shared: bool = False
    """True if the deal is shared, as in a mirrored block: its secret is not sent."""
    played: int = 0
    """Number of the program's decisions that an earlier process has answered."""


class Settings(_Strict):
    """The settings under which the program is started."""

    address: Literal["unix", "tcp", "nobody", "malformed", "missing"] = "unix"
    """Kind of ASARA_ADDRESS; nothing listens at `nobody`."""
    tls: Literal["", "localhost", "example.org"] = ""
    """Name in the referee's certificate; without one, the referee uses no TLS."""
    ca: Literal["", "right", "wrong", "absent", "garbage"] = ""
    """Authority that ASARA_CA names, or a file that is absent or no certificate."""
    token: bool = True
    seed: str = "7"
    """ASARA_SEED; if it is empty, it is not set."""
    transcript: Literal["", "folder", "used folder", "file"] = ""
    """ASARA_TRANSCRIPT: a folder that does not exist yet, one that has a transcript of each match,
    or the path of a file."""
    environment: dict[str, str] = {}
    """Further variables."""


# Steps

Changes = Annotated[list[MutationName], Field(alias="with")]


class Hello(_Strict):
    """Check the Hello of this stream, which has arrived before the first step."""

    hello: Literal["fields", "last events", "no last events"]


class Welcome(_Strict):
    welcome: Literal["sent"]
    changes: Changes = []


class Commit(_Strict):
    """Send DealCommitted, and check the nonce that answers it."""

    commit: str
    changes: Changes = []


class Start(_Strict):
    """Send MatchStarted."""

    start: str
    changes: Changes = []


class Resume(_Strict):
    """Let the program reconnect to a match; further steps send what follows from that."""

    resume: str


class Ask(_Strict):
    """Send the next decision of the program's seat, with everything that precedes it."""

    ask: str
    changes: Changes = []


class Answer(_Strict):
    """Check the reply to the open decision, and play it."""

    answer: str


class Play(_Strict):
    """Ask and answer so many decisions, or all of them and then the end of the match."""

    play: str
    decisions: int = 0
    changes: Changes = []


class Reject(_Strict):
    """Check the reply to the open decision, and reject it nevertheless."""

    reject: str
    reason: str


class Lose(_Strict):
    """Check the reply to the open decision, and take it to be lost on its way."""

    lose: str


class Update(_Strict):
    """Send the events since the last message, which the program did not ask for."""

    update: str
    changes: Changes = []


class Finish(_Strict):
    """End a match by a forfeit of the other seats, and send the result."""

    finish: str
    changes: Changes = []


class Void(_Strict):
    """End a match because the referee failed."""

    void: str


class Send(_Strict):
    """Send a message, given in the JSON form of PlayResponse, or with unknown members only."""

    send: dict[str, Any] | Literal["unknown"]


class Silence(_Strict):
    """Send nothing for so many seconds, in which no request may arrive."""

    silence: float
    idle: bool = False
    """True if the program has to sleep meanwhile."""
    pings: Literal["", "some", "none"] = ""
    """Pings of HTTP/2 that the program has to send meanwhile."""


class Drop(_Strict):
    """Lose all bytes of this connection from now on, and wait until the program dials again."""

    drop: float
    """Seconds within which it has to dial again."""


class End(_Strict):
    """End the stream with a status, or OK."""

    end: str
    reason: str = ""
    detail: str = "as the case demands"


class Cut(_Strict):
    """Break the connection; for `away_s` seconds nothing listens at the address."""

    cut: Literal["connection"]
    away_s: float = 0
    for_good: bool = False


class Goodbye(_Strict):
    """Send Goodbye, and end the stream."""

    goodbye: Literal["sent"]


def _kind(step: Any) -> str:
    """Return the first key of a step."""
    return next(iter(step), "") if isinstance(step, dict) else type(step).__name__.lower()


Step = Annotated[
    Annotated[Hello, Tag("hello")]
    | Annotated[Welcome, Tag("welcome")]
    | Annotated[Commit, Tag("commit")]
    | Annotated[Start, Tag("start")]
    | Annotated[Resume, Tag("resume")]
    | Annotated[Ask, Tag("ask")]
    | Annotated[Answer, Tag("answer")]
    | Annotated[Play, Tag("play")]
    | Annotated[Reject, Tag("reject")]
    | Annotated[Lose, Tag("lose")]
    | Annotated[Update, Tag("update")]
    | Annotated[Finish, Tag("finish")]
    | Annotated[Void, Tag("void")]
    | Annotated[Send, Tag("send")]
    | Annotated[Silence, Tag("silence")]
    | Annotated[Drop, Tag("drop")]
    | Annotated[End, Tag("end")]
    | Annotated[Cut, Tag("cut")]
    | Annotated[Goodbye, Tag("goodbye")],
    Discriminator(_kind),
]


# Expectations


class Expected(_Strict):
    """The state of things after the script, apart from what its steps have checked."""

    status: int | None = 0
    """Exit status of the program; None for any."""
    may_end: bool = False
    """True if the program may end instead of opening the last stream."""
    stderr: list[str] = []
    """Texts that standard error has to contain; {address} stands for that of the referee."""
    not_stderr: list[str] = []
    """Texts that standard error must not contain."""
    one_line: bool = False
    """True if standard error has to be a single line that begins with `asara: `."""
    secret_token: bool = False
    """True if the program must not print its token."""
    transcripts: list[str] = []
    """Matches whose transcripts have to be complete."""
    digests: list[str] = []
    """Matches whose digests have to be those of the messages that were sent."""
    dials: tuple[int, int] | None = None
    """Least and greatest number of streams opened."""
    growing_pauses: bool = False
    """True if the pauses between streams have to grow."""
    closed_first: bool = False
    """True if a connection has to be closed before the next one is opened."""
    one_stream: bool = False
    """True if no two streams may be open at once."""
    ends_after_s: tuple[float, float] | None = None
    """Seconds from the last contact, or the start, until the program has ended."""


class Case(_Strict):
    """One case."""

    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    level: Level
    """That of the folder in which the case is."""
    proves: str = Field(pattern=r"^[A-Z].*\.$")
    """One sentence that says what is proved."""
    says: str
    """The words of the level's page that demand it."""
    by_rule: bool = False
    """True if actions and nonces have to follow from the seed, by the published rules."""
    settings: Settings = Settings()
    matches: dict[str, MatchSettings] = {}
    streams: list[list[Step]] = []
    """A script for each stream that the program opens, in order."""
    expect: Expected = Expected()
    limit_s: float = 60
    """Seconds for the whole case."""
    waits: bool = False
    """True if the case mostly waits, so that it runs beside the others without a job of its own."""
