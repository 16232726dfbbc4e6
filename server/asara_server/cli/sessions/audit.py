"""Audits runs and replays, and prints what is wrong and what was not checked."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rich.progress import track

from asara_server.cli.commands.audit import Audit
from asara_server.cli.commands.replay import Prove
from asara_server.cli.display.console import err, notify, show_line, shows_progress, warn
from asara_server.cli.options.log import LogOptions
from asara_server.cli.options.output_file import check_output, run_of, write_output
from asara_server.journal.replay import ReplayError
from asara_server.replay.audit import Verdict
from asara_server.replay.file import read_file
from asara_server.replay.signing import PUBLIC_KEY_FILE, read_public_key
from asara_server.text import count, plain, plain_words
from asara_server.tournament.run.directory import RunError
from asara_server.tournament.trust.audit_plan import (
    AuditJob,
    audit_replay,
    audit_replays,
    check_kind,
    is_bundle,
    plan_audit,
)
from asara_server.tournament.trust.inclusion import (
    PROOF_SUFFIX,
    NoEndError,
    check_inclusion,
    make_proof,
    proof_in_bundle,
    read_proof,
)
from asara_server.tournament.trust.run_audit import RunAudit
from asara_server.tournament.trust.signed_documents import Cause, Published, Signed
from asara_server.user_error import UserError

UNPROVEN = 3
"""Exit status if nothing is wrong, but a run has no signed end, or a replay has no proof or another
format."""

_NO_PROOF = (
    "the bundle has no proof for this match, because it would contain what another bot printed; "
    "ask the organiser for one (`asara replay prove`)"
)

_SINGLE_REPLAYS = (
    "To check that a replay belongs to a run, use --inclusion, which needs the run or a proof (a "
    "bundle has proofs in its folder `proofs`)."
)

_NEVER_CHECKED = (
    "the bots' programs and output, and the reasons that the referee gave for crashes, failed "
    "starts and void matches"
)


_REFEREES_WORD = (
    "arrival times of replies, crashes, lost connections and protocol violations, which only the "
    "referee saw (see `asara replay clock`)"
)

_GIVEN_KEY = "the one given with --public-key"

_MOST_DESCRIBED = 8
"""Maximum number of separately audited replays for which each sound one is described."""
_HANGING = 4
"""Columns by which the second line of a finding is indented."""
_NOTICE_INTERVAL = 1000
"""Number of replays between two progress notices if standard error is not a terminal."""


def audit(options: Audit, _log: LogOptions) -> int:
    """Audit runs and replays; return the exit status."""
    held = _published(options.public_key, options.manifest)
    if options.inclusion or options.proof is not None:
        return _audit_inclusion(options, held)
    return _audit_paths(options, held)


def write_proof(options: Prove, _log: LogOptions) -> None:
    """Write the proof that a replay belongs to the run that contains it; raises UserError."""
    path = options.file
    run = run_of(path)
    check_output("--out", options.out_file, inputs=[path], outside=run)
    try:
        data = read_file(path)
        if run is None:
            raise UserError(f"{path}: is not in a run's `replays` folder; pass its path there")
        proof = make_proof(run, data)
    except (RunError, ReplayError) as error:
        raise UserError(f"{path}: {error}") from None
    write_output(options.out_file, proof.content())


def _published(key: Path | None, manifest: str | None) -> Published:
    """Return what the auditor already has, from the values of the options.

    The key is a file, or is given in hexadecimal. Raises UserError.
    """
    if manifest is not None and not re.fullmatch("[0-9a-fA-F]{64}", manifest):
        raise UserError(f"--manifest {manifest}: must have 64 hexadecimal digits")
    text, public_key = str(key), None
    if key is not None and (key.exists() or not re.fullmatch("[0-9a-fA-F]{8,}", text)):
        public_key = read_public_key(key)
    elif key is not None:
        if len(text) != 64:
            short = "; this looks like a fingerprint, its first 16" if len(text) == 16 else ""
            raise UserError(f"--public-key {text}: a key has 64 hexadecimal digits{short}")
        public_key = bytes.fromhex(text)
    return Published(public_key, None if manifest is None else manifest.lower())


def _audit_paths(options: Audit, held: Published) -> int:
    """Audit the runs and replays at the paths; return the exit status."""
    plan = plan_audit(options.paths, held, leaks=options.leaks)
    failed: list[AuditJob] = []
    unread: list[AuditJob] = []
    causes, faults = list(plan.causes), list(plan.faults)
    alone = sum(job.run is None for job in plan.jobs)
    scope: dict[str, None] = {}
    _print(*faults, *(f"not checked: {text}" for text in plan.not_checked))
    verdicts = _with_progress(audit_replays(plan.jobs, options.jobs), len(plan.jobs))
    for job, verdict in zip(plan.jobs, verdicts, strict=True):
        if fault := "; ".join(filter(None, (job.changed, verdict.fault))):
            (unread if verdict.other_format and not job.changed else failed).append(job)
            _print(f"{job.path}: {fault}")
            other_key = held.public_key and verdict.public_key not in (b"", held.public_key)
            if other_key and job.run is None:
                causes.append(Cause.OTHER_KEY)
        elif verdict.result_fault is not None:  # the file proves that the result was changed
            faults.append(f"{job.run}/{verdict.result_fault}")
            _print(faults[-1])
        elif job.run is None and alone <= _MOST_DESCRIBED:
            _print(*sound_lines(job, verdict, _key_place(job)))
            scope |= dict.fromkeys(scope_lines(job))
    _print(*scope)
    lost = Counter(job.run for job in (*failed, *unread))
    for report in plan.runs:
        _print(*report_lines(report, held, len(report.replays) - lost[report.directory]))
    audited = len(plan.jobs) - len(unread)
    _print(
        f"Audited {count(audited, 'replay')}: {audited - len(failed)} passed, {len(failed)} failed"
        + (f"; {len(unread)} not audited" if unread else "")
        + (f"; {count(len(faults), 'fault')} in other files" if faults else "")
        + "."
    )
    for warning in {key_warning(report.signed, held) for report in plan.runs} - {""}:
        warn(warning)
    if found := next((job for job in plan.jobs if job.key_from is not None), None):
        warn(single_key_warning(found))
    if alone > lost[None]:
        warn(_SINGLE_REPLAYS)
    open_ended = sum(not report.ended for report in plan.runs)
    _print(
        verdict_words(
            runs=len(plan.runs),
            open_ended=open_ended,
            single=alone,
            faults=len(failed) + len(faults),
            causes=causes,
            unread=len(unread),
        )
    )
    if failed or faults:
        return 1
    return UNPROVEN if open_ended or unread or plan.not_checked else 0


def _audit_inclusion(options: Audit, held: Published) -> int:
    """Check that each replay is sound, and belongs to a run; return the exit status."""
    paths, proof = options.paths, options.proof
    if proof is not None and len(paths) > 1:
        raise UserError("--proof is for one replay; audit the other replays separately")
    failed = unread = unproven = 0
    causes: list[Cause] = []
    scope: dict[str, None] = {}
    warnings: set[str] = set()
    for path in paths:
        found = _inclusion(path, proof, held, warnings, leaks=options.leaks)
        if found.unproven:
            unproven += 1
            _print(f"{path}: not checked; {found.unproven}")
            continue
        unread += found.other_format
        failed += bool(found.fault) and not found.other_format
        causes += found.causes
        scope |= dict.fromkeys(found.scope)
        if found.fault:
            _print(f"{path}: {found.fault}")
        _print(*(found.lines if len(paths) <= _MOST_DESCRIBED else found.lines[:1]))
    _print(*scope)
    for warning in warnings - {""}:
        warn(warning)
    audited = len(paths) - unproven - unread
    _print(
        f"Audited {count(audited, 'replay')}: {audited - failed} passed, {failed} failed"
        + (f"; {unread} not audited" if unread else "")
        + (f"; {unproven} without a proof" if unproven else "")
        + "."
    )
    if failed or unread:
        _print(
            verdict_words(
                runs=0,
                open_ended=0,
                single=len(paths),
                faults=failed,
                causes=causes,
                unread=unread,
            )
        )
    if failed:
        return 1
    if unproven:
        _print("Not checked: a replay without a proof may belong to no run.")
    if unread or unproven:
        return UNPROVEN
    _print("Each replay is sound, and part of the run.")
    return 0


def _lacks_proof(path: Path) -> str:
    """Return why nothing can show that a replay belongs to a run; "" if something can."""
    if any(file.exists() for file in _usual_proofs(path)):
        return ""
    run = run_of(path)
    if run is None:
        return "it is not in a run; pass a proof with --proof (`asara replay prove` writes one)"
    return _NO_PROOF if is_bundle(run) else ""


def _usual_proofs(path: Path) -> tuple[Path, Path]:
    return path.with_name(path.name + PROOF_SUFFIX), proof_in_bundle(path)


class _Inclusion(NamedTuple):
    """The first fault of a replay or its proof; if there is none, lines that describe the replay.

    `causes` and `other_format` tell faults apart that do not show whether the replay is sound.
    """

    fault: str = ""
    lines: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    unproven: str = ""
    """Why nothing can show that the replay belongs to a run; "" if something can."""
    causes: tuple[Cause, ...] = ()
    other_format: bool = False


def _inclusion(
    path: Path, proof_file: Path | None, held: Published, warnings: set[str], *, leaks: bool
) -> _Inclusion:
    """Check a replay, and that it belongs to its run; add to the warnings."""
    if path.is_dir():
        raise UserError(f"{path}: is a folder; --inclusion is for single replays")
    for file in (path, proof_file):
        if file is not None and not file.exists():
            raise UserError(f"{file}: no such file")
    check_kind(path)
    if proof_file is None and (unproven := _lacks_proof(path)):
        return _Inclusion(unproven=unproven)
    try:
        data = read_file(path)
        proof_file = proof_file or next((f for f in _usual_proofs(path) if f.exists()), None)
        if proof_file is not None:
            proof = read_proof(proof_file)
        else:
            run = run_of(path)
            assert run is not None  # otherwise the replay lacks a proof
            proof = make_proof(run, data)
    except NoEndError as error:
        return _Inclusion(unproven=str(error))
    except (RunError, ReplayError) as error:
        return _Inclusion(str(error))
    signed, expected = check_inclusion(proof, held)
    warnings.add(key_warning(signed, held))
    if signed.faults:
        causes = signed.causes[:1] if len(signed.causes) == len(signed.faults) else ()
        return _Inclusion("; ".join(signed.faults), causes=tuple(causes))
    assert expected is not None
    assert signed.head is not None
    job = AuditJob(path, signed.public_key, signed.secret, leaks, expected)
    verdict = audit_replay(job)
    if fault := verdict.fault or verdict.result_fault:
        alone = audit_replay(job._replace(tournament_secret=None, expected=None))
        proven = expected.result.played_as
        if alone.fault is None and alone.match_id != proven and expected.changed(data):
            words = f"{proof_file} belongs to match {proven}; this replay is match {alone.match_id}"
            return _Inclusion(words, causes=(Cause.OTHER_PROOF,))
        return _Inclusion(fault, other_format=verdict.other_format)
    result = expected.result
    title = plain(expected.manifest.title)
    place = (
        f"; it is attempt {result.attempt} at {result.match_id} of '{title}', "
        f"leaf {proof.index + 1} of {signed.head.attempts} of the signed tree"
    )
    lines = sound_lines(job, verdict, _key_source(signed, held), place)
    return _Inclusion(lines=tuple(lines), scope=tuple(scope_lines(job)))


def _print(*findings: str) -> None:
    """Print each finding on a line, which a terminal may break."""
    for text in findings:
        show_line(text, indent=len(text) - len(text.lstrip(" ")) + _HANGING)


def _with_progress(verdicts: Iterable[Verdict], total: int) -> Iterator[Verdict]:
    """Yield the verdicts while showing progress: a bar on a terminal, otherwise some notices."""
    if shows_progress():
        # what is printed for a verdict would break the bar, so it has to wait until the bar is gone
        yield from list(track(verdicts, "Auditing", total=total, console=err, transient=True))
        return
    for number, verdict in enumerate(verdicts, 1):
        yield verdict
        if number % _NOTICE_INTERVAL == 0 and number < total:
            notify(f"{number:,} of {total:,} replays")


def key_warning(signed: Signed, held: Published) -> str:
    """Return a warning if nothing shows whose key a run was signed with, otherwise ""."""
    same = signed.manifest_sha256 == held.manifest_sha256
    if held.public_key is not None or same or not signed.manifest_signed:
        return ""
    other = "" if held.manifest_sha256 else " or --manifest"
    return (
        "Nothing outside the run confirms that its key is the organiser's. If the run is not "
        f"yours, pass the published --public-key{other}."
    )


def single_key_warning(job: AuditJob) -> str:
    """Return a warning about a key that was found in a file next to a replay, or in a replay."""
    assert job.public_key is not None
    assert job.key_from is not None
    key = job.public_key.hex()
    where = (
        f"The expected key {key} is from {plain(str(job.key_from))}. Nothing else"
        if job.key_from.name == PUBLIC_KEY_FILE
        else f"The first replay is signed with key {key}. Nothing outside the replay"
    )
    return (
        f"{where} confirms that this is the organiser's key. If the run is not yours, pass the "
        "organiser's key with --public-key."
    )


def _key_place(job: AuditJob) -> str:
    """Return in words where the key of a replay that is checked alone comes from."""
    place = job.key_from
    if place is None:
        return _GIVEN_KEY
    own = place.name != PUBLIC_KEY_FILE
    return "found in the replay itself" if own else f"as in {plain(str(place))}"


def sound_lines(job: AuditJob, verdict: Verdict, key_source: str, place: str = "") -> Iterator[str]:
    """Yield the course of a sound replay that was audited separately, and who signed it.

    `place` continues the first line with the replay's place in its run.
    """
    yield f"{job.path}: passed{place}"
    yield f"  signing key: {verdict.public_key.hex()}, {key_source}"
    yield f"  match {verdict.match_id}: {_course_words(verdict)}"


def scope_lines(job: AuditJob) -> Iterator[str]:
    """Yield what is checked in each sound replay that is audited separately, and what is not."""
    deal = "the deal matches its commitment"
    if job.tournament_secret is not None:
        deal += " and follows from the tournament secret"
    yield (
        f"checked: every record is signed, and {deal}; playing the match again gives the same "
        "moves, clock charges, timeouts, results and messages to the seats"
    )
    yield f"not checked: {_REFEREES_WORD}"


def _course_words(verdict: Verdict) -> str:
    parts = [count(verdict.replies, "reply")]
    if verdict.rejections:
        parts.append(count(verdict.rejections, "rejection"))
    if verdict.late_replies:
        parts.append(count(verdict.late_replies, "late reply"))
    parts += [
        f"seat {seat} forfeited ({plain_words(kind.name)})" for seat, kind in verdict.forfeits
    ]
    return ", ".join(parts)


def report_lines(report: RunAudit, held: Published, passed: int) -> Iterator[str]:
    """Yield the findings about a run, of whose replays so many passed, except its faults."""
    signed = report.signed
    if signed.manifest is None:
        yield f"{report.directory}: no manifest in run.journal; each replay was only checked alone"
        yield "  not checked: the manifest, schedule, results and standings"
    elif not signed.manifest_signed:
        yield f"{report.directory}: its manifest is not sound, so no result can be verified"
    else:
        yield f"{report.directory}: {plain(signed.manifest.title)}, {report.state}"
    if signed.public_key is not None:
        yield f"  signing key: {signed.public_key.hex()}, {_key_source(signed, held)}"
    if signed.manifest is not None:
        same = signed.manifest_sha256 == held.manifest_sha256
        words = "as published" if same else "which is not the published hash"
        if held.manifest_sha256 is None:
            words = "not compared with a published hash (use --manifest)"
        yield f"  manifest: {signed.manifest_sha256}, {words}"
    if signed.deal_commitment is not None:
        yield f"  deal commitment: {plain(signed.deal_commitment)}, from the manifest"
    for note in report.notes:
        yield f"  {note}"
    if report.ended and report.expected:
        total = count(len(report.replays), "replay")
        replays, matches = (
            (total, "every match")
            if passed == len(report.replays)
            else (f"{passed} of {total}", "these matches")
        )
        yield f"  checked: the signatures of the manifest, the results and {replays}"
        yield f"  checked: the schedule, deals, results and standings, by playing {matches} again"
    if report.unchecked_files:
        yield f"  not checked: {', '.join(report.unchecked_files)}"
    for text in (*report.unchecked, _NEVER_CHECKED):
        yield f"  not checked: {text}"


def verdict_words(
    *, runs: int, open_ended: int, single: int, faults: int, causes: Collection[Cause], unread: int
) -> str:
    """Return the verdict on so many runs, some of them without a signed end, and single replays.

    `causes` has one cause for each fault that has one. `unread` replays have another format.
    """
    if faults and faults == len(causes):
        run = "The run" if runs <= 1 else "A run"
        signed = "run" if not single else "run or replay" if runs else "replay"
        words = {
            Cause.NO_JOURNAL: f"{run} cannot be audited without run.journal.",
            Cause.OTHER_KEY: f"{'The' if runs + single == 1 else 'A'} {signed} is not signed with "
            "this key, or the key was mistyped.",
            Cause.OTHER_MANIFEST: f"{run} does not belong to the manifest with this hash, or the "
            "hash was mistyped.",
            Cause.OTHER_PROOF: "The proof belongs to another match, so it proves nothing here.",
        }
        return " ".join(text for cause, text in words.items() if cause in causes)
    if faults:
        what, number = ("run", runs) if runs else ("replay", single)
        are = f"{what} is" if number == 1 else f"{what}s are"
        return f"The {are} NOT sound: {count(faults, 'fault')}."
    if unread:
        return f"Not audited: {count(unread, 'replay')} of another format."
    sentences = []
    if open_ended:
        lacks = "the run lacks" if runs == 1 else f"{open_ended} of {runs} runs lack"
        sentences.append(f"Nothing is wrong, but {lacks} a signed end.")
    elif runs:
        sentences.append("The run is sound." if runs == 1 else "The runs are sound.")
    if single:
        sentences.append(
            "Each replay is sound by itself. Whether it belongs to a run was not checked."
        )
    return " ".join(sentences)


def _key_source(signed: Signed, held: Published) -> str:
    """Return in words where the key comes from that must have signed a run."""
    if held.public_key is not None:
        return _GIVEN_KEY if signed.public_key == held.public_key else f"not {_GIVEN_KEY}"
    same = signed.manifest_sha256 == held.manifest_sha256
    return "from the published manifest" if same else "found in the run itself"
