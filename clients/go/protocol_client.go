package asara

import (
	"fmt"
	"sync"

	"asara/asarav1"
)

const protocolVersion = 1

// protocolClient passes responses to the running matches. It serves all streams of a call of Run:
// matches continue after a reconnection.
type protocolClient struct {
	client  *Client
	welcome *asarav1.Welcome
	matches map[string]*activeMatch
	pending map[string]*verifier // of joint deals whose match has not started
	running sync.WaitGroup
}

func newProtocolClient(client *Client) *protocolClient {
	return &protocolClient{
		client:  client,
		matches: map[string]*activeMatch{},
		pending: map[string]*verifier{},
	}
}

// hello returns the first request of a stream.
func (p *protocolClient) hello() *asarav1.PlayRequest {
	hello := &asarav1.Hello{
		ProtocolVersion: protocolVersion,
		Token:           p.client.Token,
		BotName:         p.client.BotName,
		Language:        language(),
		MaxMatches:      int32(p.client.MaxMatches),
		LiveUpdates:     p.client.LiveUpdates,
		OmitPublicView:  p.client.OmitPublicView,
	}
	for id, active := range p.matches {
		last := &asarav1.LastEvent{MatchId: id, Sequence: active.received}
		hello.LastEvents = append(hello.LastEvents, last)
	}
	return &asarav1.PlayRequest{Request: &asarav1.PlayRequest_Hello{Hello: hello}}
}

// handle passes a response to its match. Responses of a kind unknown to this version are ignored.
func (p *protocolClient) handle(d delivery) {
	switch r := d.response.GetResponse().(type) {
	case *asarav1.PlayResponse_DealCommitted:
		p.sendNonce(r.DealCommitted, d)
	case *asarav1.PlayResponse_MatchStarted:
		p.startMatch(r.MatchStarted, d)
	case *asarav1.PlayResponse_Update:
		p.deliver(r.Update.GetMatchId(), r.Update.GetSequence(), d)
	case *asarav1.PlayResponse_Decision:
		p.deliver(r.Decision.GetMatchId(), r.Decision.GetSequence(), d)
	case *asarav1.PlayResponse_Rejection:
		p.deliver(r.Rejection.GetMatchId(), 0, d)
	case *asarav1.PlayResponse_MatchEnded:
		id := r.MatchEnded.GetMatchId()
		if pending := p.pending[id]; pending != nil { // cancelled before it started
			pending.record(d.bytes)
			pending.finish()
			delete(p.pending, id)
			return
		}
		p.deliver(id, r.MatchEnded.GetSequence(), d)
		p.closeMatch(id)
	}
}

// close ends all matches that have not ended, and waits for their players.
func (p *protocolClient) close() {
	for id := range p.matches {
		p.closeMatch(id)
	}
	for _, pending := range p.pending {
		pending.close()
	}
	p.running.Wait()
}

func (p *protocolClient) sendNonce(committed *asarav1.DealCommitted, d delivery) {
	id, seat := committed.GetMatchId(), committed.GetSeat()
	if p.matches[id] != nil {
		p.client.Log.Warn("asara: nonce requested after the match started", "match", id)
		return
	}
	nonce, err := makeNonce(p.client.nonceSeed, id, seat)
	if err != nil {
		p.client.Log.Error("asara: cannot generate a nonce", "match", id, "error", err)
		return
	}
	pending := p.pending[id]
	if pending == nil {
		pending = newVerifier(p.client.Log, p.client.Transcript, id, seat)
		p.pending[id] = pending
	}
	request := pending.dealCommitted(committed, d.bytes, nonce)
	d.stream.send(&asarav1.PlayRequest{Request: &asarav1.PlayRequest_Nonce{Nonce: request}})
}

// startMatch starts the player of a match, unless the match resumes after a reconnection.
func (p *protocolClient) startMatch(started *asarav1.MatchStarted, d delivery) {
	id := started.GetMatchId()
	if p.matches[id] != nil && !started.GetResumed() {
		p.closeMatch(id) // restarted from the beginning
	}
	if p.matches[id] == nil {
		if expected := p.client.Seat; expected != nil && *expected != int(started.GetSeat()) {
			p.client.Log.Warn(fmt.Sprintf("asara: %s: seat %d, expected seat %d",
				id, started.GetSeat(), *expected))
		}
		v := p.pending[id]
		delete(p.pending, id)
		if v == nil {
			v = newVerifier(p.client.Log, p.client.Transcript, id, started.GetSeat())
		}
		active := newActiveMatch(p.client, newMatch(started, p.welcome, p.client.Seed, v))
		p.matches[id] = active
		p.running.Add(1)
		go func() {
			defer p.running.Done()
			active.run()
		}()
	}
	p.deliver(id, 0, d)
}

func (p *protocolClient) deliver(id string, sequence int64, d delivery) {
	active := p.matches[id]
	if active == nil {
		p.client.Log.Warn("asara: message for an unknown match", "match", id)
		return
	}
	active.received = max(active.received, sequence)
	active.deliveries.push(d)
}

// closeMatch cancels the decision of the player, which still receives the queued deliveries.
func (p *protocolClient) closeMatch(id string) {
	if active := p.matches[id]; active != nil {
		active.cancel()
		active.deliveries.close()
		delete(p.matches, id)
	}
}
