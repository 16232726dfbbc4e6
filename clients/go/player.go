// Package asara lets a bot written in Go play ASARA.
//
// A bot is a [Player] for each match and a call of [Run]. The package connects to the referee,
// passes decisions to the players and sends their answers. Messages are in package asarav1.
package asara

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"asara/asarav1"
)

// Player plays one seat of one match. Its methods are called one at a time, in the order of the
// messages; players of different matches run concurrently if [Client.MaxMatches] is above 1. A
// player may also implement [MatchStartedHook], [UpdatedHook], [RejectedHook] and
// [MatchEndedHook].
type Player interface {
	// Decide returns one of decision.LegalActions, or several actions that begin with one. Further
	// actions are applied in order while each is legal. The first illegal one ends the list without
	// penalty, and the next decision is asked as usual. Called once per decision. ctx is done when
	// the clock has run out, the match has ended or the bot stops.
	Decide(ctx context.Context, decision *asarav1.Decision) []*asarav1.Action
}

// DecideFunc is a Player that is a function.
type DecideFunc func(ctx context.Context, decision *asarav1.Decision) []*asarav1.Action

// Decide calls the function.
func (f DecideFunc) Decide(ctx context.Context, decision *asarav1.Decision) []*asarav1.Action {
	return f(ctx, decision)
}

// MatchStartedHook is called when the match starts and, with Resumed set, when it resumes after a
// reconnection. The message contains the current view; events missed meanwhile are passed to
// [UpdatedHook] before it.
type MatchStartedHook interface {
	MatchStarted(started *asarav1.MatchStarted)
}

// UpdatedHook is called with new events, each once and in order, before the decision that follows
// them. Events arrive with decisions and the result or, with [Client.LiveUpdates], after every turn.
type UpdatedHook interface {
	Updated(update *asarav1.Update)
}

// RejectedHook returns another answer after the referee rejected one; only a few are forgiven per
// match. The default is the first legal action.
type RejectedHook interface {
	Rejected(
		ctx context.Context, decision *asarav1.Decision, rejection *asarav1.Rejection,
	) []*asarav1.Action
}

// MatchEndedHook is called with the result, which has one entry per seat, in seat order.
type MatchEndedHook interface {
	MatchEnded(ended *asarav1.MatchEnded)
}

// Match is a match, from the seat of one player.
type Match struct {
	// ID is the name of the match.
	ID string
	// Seat is this player's seat, 0 to Seats - 1.
	Seat int
	// Seats is the number of seats.
	Seats int
	// Started is the message itself, with rule sets, edition, clocks and the first view.
	Started *asarav1.MatchStarted
	// Entry is the name of this bot's entry in the match or tournament.
	Entry string
	// Limits that the referee enforces.
	Limits *asarav1.Limits

	seed     string
	rand     *rand.Rand
	verifier *verifier
}

// Digest returns the SHA-256 digest of the messages of the match up to the one that the player is
// handling. At the end it equals the digest of this seat in the replay, unless messages were lost
// when the stream broke. Call it only from the player's goroutine.
func (m *Match) Digest() [sha256.Size]byte { return m.verifier.digest }

// Rand returns a source of random numbers that depend on ASARA_SEED, the match and the seat alone.
// It must not be shared between goroutines.
func (m *Match) Rand() *rand.Rand { return m.rand }

// RandomAction returns one of the legal actions, chosen by the rule that bots in every language share.
// The choice depends on ASARA_SEED, the match, the seat and the decision alone, so a repeated call
// returns the same action.
func (m *Match) RandomAction(decision *asarav1.Decision) *asarav1.Action {
	legal := decision.GetLegalActions()
	return legal[randomIndex(m.seed, m.ID, m.Seat, decision.GetDecisionId(), len(legal))]
}

// randomIndex returns the index, below count, that the rule in proto/README.md chooses.
func randomIndex(seed, matchID string, seat int, decisionID int64, count int) int {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d/%d", seed, matchID, seat, decisionID))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(count))
}

func newMatch(
	started *asarav1.MatchStarted, welcome *asarav1.Welcome, seed string, verifier *verifier,
) *Match {
	return &Match{
		ID:       started.GetMatchId(),
		Seat:     int(started.GetSeat()),
		Seats:    int(started.GetSeats()),
		Started:  started,
		Entry:    welcome.GetEntry(),
		Limits:   welcome.GetLimits(),
		seed:     seed,
		rand:     newRand(seed, started.GetMatchId(), started.GetSeat()),
		verifier: verifier,
	}
}

// newRand seeds ChaCha8 with the hash of its arguments; each string is preceded by its length.
func newRand(seed, matchID string, seat int32) *rand.Rand {
	var text []byte
	for _, part := range []string{seed, matchID} {
		text = binary.BigEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	text = binary.BigEndian.AppendUint32(text, uint32(seat))
	return rand.New(rand.NewChaCha8(sha256.Sum256(text)))
}
