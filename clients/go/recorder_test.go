package asara

import (
	"context"
	"reflect"
	"testing"
	"time"

	"asara/asarav1"
)

// recorder is a player that records its calls.
type recorder struct {
	t      *testing.T
	calls  []string
	events []int32
	decide func(context.Context, *asarav1.Decision) []*asarav1.Action
	ended  chan struct{}
}

func (r *recorder) MatchStarted(started *asarav1.MatchStarted) {
	if started.GetResumed() {
		r.calls = append(r.calls, "resumed")
	} else {
		r.calls = append(r.calls, "started")
	}
}

func (r *recorder) Decide(
	ctx context.Context, decision *asarav1.Decision,
) []*asarav1.Action {
	r.calls = append(r.calls, "asked")
	if r.decide != nil {
		return r.decide(ctx, decision)
	}
	return last(decision)
}

func (r *recorder) Updated(update *asarav1.Update) {
	r.calls = append(r.calls, "updated")
	for _, event := range update.GetEvents() {
		r.events = append(r.events, event.GetAsari())
	}
}

func (r *recorder) MatchEnded(*asarav1.MatchEnded) {
	r.calls = append(r.calls, "ended")
	if r.ended != nil {
		close(r.ended)
	}
}

func (r *recorder) expect(calls ...string) {
	r.t.Helper()
	if !reflect.DeepEqual(r.calls, calls) {
		r.t.Errorf("the calls of the player are %q, want %q", r.calls, calls)
	}
}

func (r *recorder) expectEvents(asari ...int32) {
	r.t.Helper()
	if !reflect.DeepEqual(r.events, asari) {
		r.t.Errorf("the events passed to the player are %v, want %v", r.events, asari)
	}
}

// run runs the client to its end.
func run(t *testing.T, client *Client) error {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- client.Run(context.Background()) }()
	select {
	case err := <-result:
		return err
	case <-time.After(timeout):
		t.Fatal("the client did not stop")
		return nil
	}
}

func runToGoodbye(t *testing.T, client *Client) {
	t.Helper()
	if err := run(t, client); err != nil {
		t.Errorf("Run returned %v, want nil after goodbye", err)
	}
}
