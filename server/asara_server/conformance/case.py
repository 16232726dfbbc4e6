"""The form of a case: its settings, a script for each stream, and what is expected at the end.

A script is a list of steps. The first key of a step is its kind, as in `- ask: m1`.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Level(StrEnum):
    """The level of a case; each level includes the levels before it."""

    PROTOCOL = "protocol"
    """What every bot must do, from `proto/README.md`; any legal action passes."""
    CLIENT = "client"
    """What users of a client expect, from `clients/behaviour.md`; any legal action passes."""
    KIT = "kit"
    """What makes clients interchangeable, from `clients/behaviour.md`: the same moves and files."""

    @property
    def page(self) -> str:
        """The page that defines the requirements of this level."""
        return "proto/README.md" if self is Level.PROTOCOL else "clients/behaviour.md"


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
"""How a message is changed before it is sent; `mutations` has a function for each."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


# Settings


class CaseMatch(_Strict):
    """A match that the program plays against the referee, which plays all other seats."""

    seats: int = 2
    seat: int = 0
    """The program's seat."""
    rules: str = "basic"
    joint: bool = False
    """True if the program is asked for a nonce."""
    shared: bool = False
    """True if the deal is shared, as in a mirrored block, so that its secret is not sent."""
    played: int = 0
    """Number of the program's decisions that an earlier process answered."""


class Settings(_Strict):
    """The settings under which the program is started."""

    address: Literal["unix", "tcp", "nobody", "malformed", "missing"] = "unix"
    """Kind of ASARA_ADDRESS; at `nobody`, nothing listens."""
    tls: Literal["", "localhost", "example.org"] = ""
    """Host name in the referee's certificate; if empty, the referee uses no TLS."""
    ca: Literal["", "right", "wrong", "absent", "garbage"] = ""
    """The authority to which ASARA_CA refers, or a file that is missing or not a certificate."""
    token: bool = True
    seed: str = "7"
    """ASARA_SEED; if empty, the variable is not set."""
    transcript: Literal["", "folder", "used folder", "file"] = ""
    """ASARA_TRANSCRIPT: a folder that does not exist yet, a folder with a transcript of each match,
    or the path of a file."""
    environment: dict[str, str] = {}
    """Further environment variables."""


# Steps

Changes = Annotated[list[MutationName], Field(alias="with")]


class Hello(_Strict):
    """Check this stream's Hello, which arrived before the first step."""

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
    """Let the program reconnect to a match; further steps send the messages that follow."""

    resume: str


class Ask(_Strict):
    """Send the next decision of the program's seat, with all messages that precede it."""

    ask: str
    changes: Changes = []


class Answer(_Strict):
    """Check the reply to the open decision, and play its actions."""

    answer: str


class Play(_Strict):
    """Ask and answer this many decisions; or all decisions, and then the end of the match."""

    play: str
    decisions: int = 0
    changes: Changes = []


class Reject(_Strict):
    """Check the reply to the open decision, and reject it nevertheless."""

    reject: str
    reason: str


class Lose(_Strict):
    """Check the reply to the open decision, and behave as if it was lost on its way."""

    lose: str


class Update(_Strict):
    """Send the events since the last message, without a request by the program."""

    update: str
    changes: Changes = []


class Finish(_Strict):
    """End a match by a forfeit of the other seats, and send the results."""

    finish: str
    changes: Changes = []


class Void(_Strict):
    """End a match because the referee failed."""

    void: str


class Send(_Strict):
    """Send a message: a PlayResponse given as JSON, or a message that has only unknown fields."""

    send: dict[str, Any] | Literal["unknown"]


class Silence(_Strict):
    """Send nothing for this many seconds; no request may arrive in that time."""

    silence: float
    idle: bool = False
    """True if the program must be asleep during the silence."""
    pings: Literal["", "some", "none"] = ""
    """Whether the program must send HTTP/2 pings during the silence; "" for either."""


class Drop(_Strict):
    """Lose all bytes of this connection from now on, and wait until the program reconnects."""

    drop: float
    """Seconds within which the program must reconnect."""


class End(_Strict):
    """End the stream with a status; the default is OK."""

    end: str
    reason: str = ""
    detail: str = "as the case demands"


class Cut(_Strict):
    """Break the connection; for `away_s` seconds, nothing listens at the address."""

    cut: Literal["connection"]
    away_s: float = 0
    for_good: bool = False


class Goodbye(_Strict):
    """Send Goodbye, and end the stream."""

    goodbye: Literal["sent"]


Step = (
    Hello
    | Welcome
    | Commit
    | Start
    | Resume
    | Ask
    | Answer
    | Play
    | Reject
    | Lose
    | Update
    | Finish
    | Void
    | Send
    | Silence
    | Drop
    | End
    | Cut
    | Goodbye
)
"""Their required keys, which are all different, tell them apart."""


# Expectations


class Expected(_Strict):
    """Checks made after the last step of the script."""

    status: int | None = 0
    """Exit status of the program; None accepts any."""
    may_end: bool = False
    """True if the program may end instead of opening the last stream."""
    stderr: list[str] = []
    """Texts that standard error must contain; {address} stands for the referee's address."""
    not_stderr: list[str] = []
    """Texts that standard error must not contain."""
    one_line: bool = False
    """True if standard error must be a single line that begins with `asara: `."""
    secret_token: bool = False
    """True if the program must not print its token."""
    transcripts: list[str] = []
    """Matches whose transcripts must be complete."""
    digests: list[str] = []
    """Matches whose digests must match the messages that were sent."""
    dials: tuple[int, int] | None = None
    """Minimum and maximum number of streams opened."""
    growing_pauses: bool = False
    """True if the pauses between streams must grow."""
    closed_first: bool = False
    """True if a connection must be closed before the next one is opened."""
    one_stream: bool = False
    """True if no two streams may be open at the same time."""
    ends_after_s: tuple[float, float] | None = None
    """Minimum and maximum seconds from the last contact, or the start, to the program's end."""


class Case(_Strict):
    """One case of the suite."""

    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    level: Level
    """The level of the folder that contains the case."""
    proves: str = Field(pattern=r"^[A-Z].*\.$")
    """A sentence that states what the case proves."""
    says: str
    """The words on the level's page that require this behaviour."""
    by_rule: bool = False
    """True if actions and nonces must be derived from the seed by the published rules."""
    settings: Settings = Settings()
    matches: dict[str, CaseMatch] = {}
    streams: list[list[Step]] = []
    """A script for each stream that the program opens, in order."""
    expect: Expected = Expected()
    limit_s: float = 60
    """Time limit for the whole case, in seconds."""
    waits: bool = False
    """True if the case spends most of its time waiting, so that `jobs` does not count it."""
