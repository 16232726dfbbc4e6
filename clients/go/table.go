package asara

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"asara/asarav1"
)

// table is one match and its player, which works through a mailbox in a goroutine of its own. It
// outlives the streams that fill the mailbox.
type table struct {
	newPlayer func(*Match) Player
	match     *Match
	log       *slog.Logger
	ctx       context.Context
	cancel    context.CancelFunc
	mailbox   *mailbox

	// received is the sequence number of the last event in the mailbox or taken out of it; it
	// belongs to the session.
	received int64

	player  Player
	updated int64             // sequence number of the last event that the player knows
	asked   *asarav1.Decision // the decision that was last asked of the player
	answer  []*asarav1.Action // the last answer to it
}

func newTable(client *Client, match *Match) *table {
	ctx, cancel := context.WithCancel(context.Background())
	return &table{
		newPlayer: client.NewPlayer,
		match:     match,
		log:       client.Log.With("match", match.ID),
		ctx:       ctx,
		cancel:    cancel,
		mailbox:   newMailbox(),
		received:  match.Started.GetSequence(),
		updated:   match.Started.GetSequence(),
	}
}

func (t *table) run() {
	defer t.match.witness.close()
	t.player = t.newPlayer(t.match)
	for {
		l, ok := t.mailbox.take()
		if !ok {
			return
		}
		t.match.witness.hear(l.message)
		switch r := l.response.GetResponse().(type) {
		case *asarav1.PlayResponse_MatchStarted:
			t.match.witness.started(r.MatchStarted)
			if hook, ok := t.player.(MatchStartedHook); ok {
				hook.MatchStarted(r.MatchStarted)
			}
		case *asarav1.PlayResponse_Update:
			t.update(r.Update.GetEvents(), r.Update.GetSequence())
		case *asarav1.PlayResponse_Decision:
			t.update(r.Decision.GetEvents(), r.Decision.GetSequence())
			t.decide(r.Decision, l)
		case *asarav1.PlayResponse_Rejection:
			t.reject(r.Rejection, l)
		case *asarav1.PlayResponse_MatchEnded:
			t.match.witness.ended(r.MatchEnded)
			t.update(r.MatchEnded.GetEvents(), r.MatchEnded.GetSequence())
			if hook, ok := t.player.(MatchEndedHook); ok {
				hook.MatchEnded(r.MatchEnded)
			}
		}
	}
}

// update tells the player those of the events that it does not know; sequence numbers the last.
func (t *table) update(events []*asarav1.Event, sequence int64) {
	unknown := max(sequence-t.updated, 0)
	if n := int64(len(events)); n > unknown {
		events = events[n-unknown:]
	}
	t.updated = max(t.updated, sequence)
	if hook, ok := t.player.(UpdatedHook); ok && len(events) > 0 {
		hook.Updated(&asarav1.Update{MatchId: t.match.ID, Events: events, Sequence: sequence})
	}
}

// decide asks the player, or repeats its answer where a break made the referee repeat the decision.
func (t *table) decide(decision *asarav1.Decision, l letter) {
	if t.ctx.Err() != nil {
		return
	}
	if decision.GetDecisionId() != t.asked.GetDecisionId() {
		ctx, cancel := t.deadline(l, decision.GetClockUs())
		defer cancel()
		t.answer = t.player.Decide(ctx, decision)
		t.asked = decision
	}
	t.reply(l)
}

// reject answers a decision again.
func (t *table) reject(rejection *asarav1.Rejection, l letter) {
	t.log.Warn("asara: an answer was rejected",
		"decision", rejection.GetDecisionId(), "reason", rejection.GetReason(),
		"detail", rejection.GetDetail(), "answer", formatActions(t.answer), "forgiven", rejection.GetForgiven())
	legal := rejection.GetLegalActions()
	if t.ctx.Err() != nil || rejection.GetDecisionId() != t.asked.GetDecisionId() || len(legal) == 0 {
		return
	}
	if hook, ok := t.player.(RejectedHook); ok {
		ctx, cancel := t.deadline(l, rejection.GetClockUs())
		defer cancel()
		t.answer = hook.Rejected(ctx, t.asked, rejection)
	} else {
		t.answer = legal[:1]
	}
	t.reply(l)
}

// reply answers on the stream that asked. If that stream is broken, the referee repeats the
// decision on the next one, and gets the answer there.
func (t *table) reply(l letter) {
	if t.ctx.Err() != nil {
		return
	}
	reply := &asarav1.Reply{
		MatchId: t.match.ID, DecisionId: t.asked.GetDecisionId(), Actions: t.answer,
	}
	l.line.send(&asarav1.PlayRequest{Request: &asarav1.PlayRequest_Reply{Reply: reply}})
}

// deadline is when the clock runs out, counted from when the message came.
func (t *table) deadline(l letter, clockUs int64) (context.Context, context.CancelFunc) {
	if clockUs <= 0 {
		return context.WithCancel(t.ctx)
	}
	return context.WithDeadline(t.ctx, l.received.Add(time.Duration(clockUs)*time.Microsecond))
}

// letter is a message for a match, with the stream it came on and the time it came.
type letter struct {
	response *asarav1.PlayResponse
	message  []byte // the response as it came
	line     *line
	received time.Time
}

// mailbox holds any number of letters, so that a player who thinks never keeps the stream waiting.
type mailbox struct {
	mutex   sync.Mutex
	filled  *sync.Cond
	letters []letter
	closed  bool
}

func newMailbox() *mailbox {
	m := &mailbox{}
	m.filled = sync.NewCond(&m.mutex)
	return m
}

func (m *mailbox) put(l letter) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.letters = append(m.letters, l)
	m.filled.Signal()
}

// take waits for a letter; ok is false when there is none and none will come.
func (m *mailbox) take() (l letter, ok bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for len(m.letters) == 0 {
		if m.closed {
			return letter{}, false
		}
		m.filled.Wait()
	}
	l = m.letters[0]
	m.letters = m.letters[1:]
	return l, true
}

func (m *mailbox) close() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.closed = true
	m.filled.Signal()
}
