package asara

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"

	"asara/asarav1"
)

const (
	firstPause    = 100 * time.Millisecond
	longestPause  = 2 * time.Second
	keepaliveTime = 20 * time.Second

	largestResponse = 64 << 20 // bytes
)

// session is one call of Run: it connects to the referee, and reconnects whenever the stream breaks.
type session struct {
	client      Client
	credentials credentials.TransportCredentials
	protocol    *protocolClient
}

func newSession(client Client) (*session, error) {
	if err := client.complete(); err != nil {
		return nil, err
	}
	credentials, err := client.credentials()
	if err != nil {
		return nil, err
	}
	s := &session{client: client, credentials: credentials}
	s.protocol = newProtocolClient(&s.client)
	return s, nil
}

// run plays on one stream after another until the referee sends Goodbye, refuses the bot or cannot
// be reached for too long.
func (s *session) run(ctx context.Context) error {
	defer s.protocol.close()

	log, address := s.client.Log, s.client.Address
	lastContact := time.Now()
	pause, warned, met := firstPause, false, false
	for {
		began := time.Now()
		welcomed, err := s.playStream(ctx)
		var refused *RefusedError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("asara: stopped: %w", context.Cause(ctx))
		case errors.As(err, &refused):
			return err
		}

		if welcomed {
			lastContact, warned, met = time.Now(), false, true
		} else if fault := s.transportFault(ctx, met); fault != nil {
			return fault
		} else if time.Since(lastContact) > s.client.Patience {
			return &ConnectionLostError{Address: address, Patience: s.client.Patience, Cause: err}
		}
		if !warned {
			log.Warn("asara: no connection; retrying", "address", address, "error", err)
			warned = true
		}
		if time.Since(began) > longestPause {
			pause = firstPause
		}
		if !sleep(ctx, jittered(pause)) {
			return fmt.Errorf("asara: stopped: %w", context.Cause(ctx))
		}
		pause = min(2*pause, longestPause)
	}
}

// playStream plays on one stream until it breaks; the error is nil after Goodbye.
func (s *session) playStream(ctx context.Context) (welcomed bool, err error) {
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(s.credentials),
		grpc.WithNoProxy(), // a proxy is often set although the referee is local
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largestResponse)),
	}
	if !strings.HasPrefix(s.client.Address, "unix:") {
		// A connection that is lost silently, as between machines, is detected within 40 s. On a Unix
		// socket none is lost silently, and a referee that is stopped for a while keeps its bots.
		options = append(options, grpc.WithKeepaliveParams(
			keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTime}))
	}
	conn, err := grpc.NewClient(s.client.Address, options...)
	if err != nil {
		return false, fmt.Errorf("asara: ASARA_ADDRESS: %w", err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	call, err := asarav1.NewPlayServiceClient(conn).Play(ctx, grpc.ForceCodecV2(newCodec()))
	if err != nil {
		return false, breakReason(s.client.Address, nil, err)
	}
	stream := &requestStream{call: call}
	stream.send(s.protocol.hello())
	for {
		var raw rawResponse
		err := call.RecvMsg(&raw)
		if errors.Is(err, io.EOF) {
			return welcomed, errors.New("closed without a goodbye")
		}
		if err != nil {
			return welcomed, breakReason(s.client.Address, call.Trailer(), err)
		}
		response := &raw.response
		if welcome := response.GetWelcome(); welcome != nil {
			if version := welcome.GetProtocolVersion(); version != protocolVersion {
				return true, otherVersion(s.client.Address, version)
			}
			s.protocol.welcome, welcomed = welcome, true
			continue
		}
		if goodbye := response.GetGoodbye(); goodbye != nil {
			s.client.Log.Debug("asara: goodbye", "reason", goodbye.GetReason())
			return true, nil
		}
		s.protocol.handle(delivery{
			response: response, bytes: raw.bytes, stream: stream, received: time.Now(),
		})
	}
}

// requestStream serializes the requests that concurrent matches send on one stream.
type requestStream struct {
	mutex sync.Mutex
	call  grpc.BidiStreamingClient[asarav1.PlayRequest, asarav1.PlayResponse]
}

// send ignores errors: a broken stream also ends the receiving side, which handles them.
func (s *requestStream) send(request *asarav1.PlayRequest) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_ = s.call.Send(request)
}

// sleep returns false if the context is done before the pause is over.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// jittered prevents bots that lost the same referee from reconnecting at the same moments.
func jittered(pause time.Duration) time.Duration {
	return time.Duration(float64(pause) * (0.75 + rand.Float64()/2))
}
