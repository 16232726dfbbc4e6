package asara

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"asara/asarav1"
)

// activeMatch is a running match with its player, which handles a queue of deliveries in its own
// goroutine. It outlives the streams that the deliveries arrive on.
type activeMatch struct {
	newPlayer  func(*Match) Player
	match      *Match
	log        *slog.Logger
	ctx        context.Context
	cancel     context.CancelFunc
	deliveries *queue

	// received is the sequence number of the last event received; it belongs to the protocolClient.
	received int64

	player   Player
	sequence int64             // number of the last event passed to the player
	decision *asarav1.Decision // the last decision asked
	answer   []*asarav1.Action // the last answer to it
	asked    *asarav1.Decision // the decision that the player is making
}

func newActiveMatch(client *Client, match *Match) *activeMatch {
	ctx, cancel := context.WithCancel(context.Background())
	return &activeMatch{
		newPlayer:  client.NewPlayer,
		match:      match,
		log:        client.Log.With("match", match.ID),
		ctx:        ctx,
		cancel:     cancel,
		deliveries: newQueue(),
		received:   match.Started.GetSequence(),
		sequence:   match.Started.GetSequence(),
	}
}

func (a *activeMatch) run() {
	defer a.match.verifier.close()
	defer a.exitOnPanic()
	a.player = a.newPlayer(a.match)
	for {
		d, ok := a.deliveries.pop()
		if !ok {
			return
		}
		a.match.verifier.record(d.bytes)
		switch r := d.response.GetResponse().(type) {
		case *asarav1.PlayResponse_MatchStarted:
			a.match.verifier.matchStarted(r.MatchStarted)
			if hook, ok := a.player.(MatchStartedHook); ok {
				hook.MatchStarted(r.MatchStarted)
			}
		case *asarav1.PlayResponse_Update:
			a.deliverEvents(r.Update.GetEvents(), r.Update.GetSequence())
		case *asarav1.PlayResponse_Decision:
			a.deliverEvents(r.Decision.GetEvents(), r.Decision.GetSequence())
			a.decide(r.Decision, d)
		case *asarav1.PlayResponse_Rejection:
			a.handleRejection(r.Rejection, d)
		case *asarav1.PlayResponse_MatchEnded:
			a.match.verifier.matchEnded(r.MatchEnded)
			a.deliverEvents(r.MatchEnded.GetEvents(), r.MatchEnded.GetSequence())
			if hook, ok := a.player.(MatchEndedHook); ok {
				hook.MatchEnded(r.MatchEnded)
			}
		}
	}
}

// exitOnPanic ends the process if the player panicked. The error and where it happened are the last
// lines, below the player's calls.
func (a *activeMatch) exitOnPanic() {
	cause := recover()
	if cause == nil {
		return
	}
	place := a.match.ID
	if a.asked != nil {
		kind := strings.ReplaceAll(enumWord("DECISION_KIND_", a.asked.GetKind().String()), "_", " ")
		place = fmt.Sprintf("%s, decision %d (%s)", place, a.asked.GetDecisionId(), kind)
	}
	stack := string(debug.Stack())
	stack, _, _ = strings.Cut(stack[strings.Index(stack, "\npanic(")+1:], "\nasara.")
	fmt.Fprintf(os.Stderr, "%s\npanic: %s\nin %s\n", stack, oneLine(fmt.Sprint(cause)), place)
	os.Exit(2)
}

// deliverEvents passes on the events that are new to the player; a reconnection may repeat some.
// sequence is the number of the last event.
func (a *activeMatch) deliverEvents(events []*asarav1.Event, sequence int64) {
	unseen := max(sequence-a.sequence, 0)
	if n := int64(len(events)); n > unseen {
		events = events[n-unseen:]
	}
	a.sequence = max(a.sequence, sequence)
	if hook, ok := a.player.(UpdatedHook); ok && len(events) > 0 {
		hook.Updated(&asarav1.Update{MatchId: a.match.ID, Events: events, Sequence: sequence})
	}
}

// decide asks the player; a decision repeated after a reconnection gets the same answer.
func (a *activeMatch) decide(decision *asarav1.Decision, d delivery) {
	if a.ctx.Err() != nil {
		return
	}
	if decision.GetDecisionId() != a.decision.GetDecisionId() {
		ctx, cancel := a.deadline(d, decision.GetClockUs())
		defer cancel()
		a.asked = decision
		a.answer = a.player.Decide(ctx, decision)
		a.asked, a.decision = nil, decision
	}
	a.reply(d)
}

func (a *activeMatch) handleRejection(rejection *asarav1.Rejection, d delivery) {
	a.log.Warn("asara: reply rejected",
		"decision", rejection.GetDecisionId(), "reason", rejection.GetReason(),
		"detail", rejection.GetDetail(), "answer", formatActions(a.answer), "forgiven", rejection.GetForgiven(),
		"decide", decidePlace(a.player))
	legal := rejection.GetLegalActions()
	if a.ctx.Err() != nil || rejection.GetDecisionId() != a.decision.GetDecisionId() || len(legal) == 0 {
		return
	}
	if hook, ok := a.player.(RejectedHook); ok {
		ctx, cancel := a.deadline(d, rejection.GetClockUs())
		defer cancel()
		a.asked = a.decision
		a.answer = hook.Rejected(ctx, a.decision, rejection)
		a.asked = nil
	} else {
		a.answer = legal[:1]
	}
	a.reply(d)
}

// reply answers on the stream of the decision. If that stream has broken, the referee repeats the
// decision on the next one, where the answer is sent again.
func (a *activeMatch) reply(d delivery) {
	if a.ctx.Err() != nil {
		return
	}
	reply := &asarav1.Reply{
		MatchId: a.match.ID, DecisionId: a.decision.GetDecisionId(), Actions: a.answer,
	}
	d.stream.send(&asarav1.PlayRequest{Request: &asarav1.PlayRequest_Reply{Reply: reply}})
}

// deadline returns a context that is done when the clock runs out, counted from the arrival.
func (a *activeMatch) deadline(d delivery, clockUs int64) (context.Context, context.CancelFunc) {
	if clockUs <= 0 {
		return context.WithCancel(a.ctx)
	}
	return context.WithDeadline(a.ctx, d.received.Add(time.Duration(clockUs)*time.Microsecond))
}

// delivery is a response for a match, with its bytes, its stream and its time of arrival.
type delivery struct {
	response *asarav1.PlayResponse
	bytes    []byte // the response as received
	stream   *requestStream
	received time.Time
}

// queue is unbounded, so that a player that is deciding never blocks the stream.
type queue struct {
	mutex      sync.Mutex
	changed    *sync.Cond
	deliveries []delivery
	closed     bool
}

func newQueue() *queue {
	q := &queue{}
	q.changed = sync.NewCond(&q.mutex)
	return q
}

func (q *queue) push(d delivery) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.deliveries = append(q.deliveries, d)
	q.changed.Signal()
}

// pop waits for a delivery; ok is false once the queue is empty and closed.
func (q *queue) pop() (d delivery, ok bool) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for len(q.deliveries) == 0 {
		if q.closed {
			return delivery{}, false
		}
		q.changed.Wait()
	}
	d = q.deliveries[0]
	q.deliveries = q.deliveries[1:]
	return d, true
}

func (q *queue) close() {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.closed = true
	q.changed.Signal()
}
