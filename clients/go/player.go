// Package asara is what a bot written in Go imports to play ASARA.
//
// A bot is a [Player] for each match and a call of [Run]. The package dials the referee, keeps the
// stream alive, asks the players and sends their answers. Messages are in package asarav1.
package asara

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"asara/asarav1"
)

// Player plays one seat of one match. Its methods are called one at a time, in the order in which
// things happened; players of other matches run at the same time where the bot allows it
// ([Client.MaxMatches]). It may also have the methods of [MatchStartedHook], [UpdatedHook],
// [RejectedHook] and [MatchEndedHook].
type Player interface {
	// Decide returns one action of decision.LegalActions or, to save round trips, also the
	// following ones up to the end of the turn: they are applied as long as each is legal. ctx is
	// done when the clock has run out, the match is over or the bot stops.
	Decide(ctx context.Context, decision *asarav1.Decision) []*asarav1.Action
}

// DecideFunc is a Player that is a function.
type DecideFunc func(ctx context.Context, decision *asarav1.Decision) []*asarav1.Action

// Decide calls the function.
func (f DecideFunc) Decide(ctx context.Context, decision *asarav1.Decision) []*asarav1.Action {
	return f(ctx, decision)
}

// MatchStartedHook hears of the start before the first decision, and again, with Resumed set, when
// the match goes on after the stream broke. The message carries the view at that moment; what
// happened meanwhile comes before it, as an update.
type MatchStartedHook interface {
	MatchStarted(started *asarav1.MatchStarted)
}

// UpdatedHook is given the events that follow Match.Started, each once and in order, whether they
// came by themselves ([Client.LiveUpdates]) or with a decision or the end of the match, which it
// hears of afterwards.
type UpdatedHook interface {
	Updated(update *asarav1.Update)
}

// RejectedHook answers in place of Decide after an answer was rejected. Without it, the first
// action of the legal list is played. Every rejection is logged.
type RejectedHook interface {
	Rejected(
		ctx context.Context, decision *asarav1.Decision, rejection *asarav1.Rejection,
	) []*asarav1.Action
}

// MatchEndedHook hears the results.
type MatchEndedHook interface {
	MatchEnded(ended *asarav1.MatchEnded)
}

// Match is what a player knows of its match from the start.
type Match struct {
	// ID is the name of the match.
	ID string
	// Seat is the player's own seat, 0 to Seats - 1.
	Seat int
	// Seats is the number of players.
	Seats int
	// Started holds the rest: rules, edition, clocks and the first view.
	Started *asarav1.MatchStarted
	// Entry is the name under which the bot is entered.
	Entry string
	// Limits are what the referee tolerates.
	Limits *asarav1.Limits

	rand    *rand.Rand
	witness *witness
}

// Digest returns the digest of all messages of the match up to the one that the player is being
// told: SHA-256 of the digest before and the message, from 32 zero bytes on. At the end the
// replay has the same for this seat, except where the stream broke: what was lost on the way is
// missing here. It is for the player's own goroutine.
func (m *Match) Digest() [sha256.Size]byte { return m.witness.digest }

// Rand returns the match's own source of random numbers. It depends on the seed (ASARA_SEED), the
// match and the seat alone, so that a bot that draws from nothing else plays the same match again
// in whatever order matches run. It must not be shared between goroutines.
func (m *Match) Rand() *rand.Rand { return m.rand }

func newMatch(
	started *asarav1.MatchStarted, welcome *asarav1.Welcome, seed string, witness *witness,
) *Match {
	return &Match{
		ID:      started.GetMatchId(),
		Seat:    int(started.GetSeat()),
		Seats:   int(started.GetSeats()),
		Started: started,
		Entry:   welcome.GetEntry(),
		Limits:  welcome.GetLimits(),
		rand:    newRand(seed, started.GetMatchId(), started.GetSeat()),
		witness: witness,
	}
}

// newRand hashes its arguments, each string with its length before it, into a ChaCha8 key.
func newRand(seed, matchID string, seat int32) *rand.Rand {
	var text []byte
	for _, part := range []string{seed, matchID} {
		text = binary.BigEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	text = binary.BigEndian.AppendUint32(text, uint32(seat))
	return rand.New(rand.NewChaCha8(sha256.Sum256(text)))
}
