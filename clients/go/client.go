package asara

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"

	"asara/asarav1"
)

const protocolVersion = 1

// Run plays all matches that the referee gives to this process, with one player from newPlayer for
// each, and returns nil when the referee says goodbye. The environment tells where the referee is
// (see [Client]).
func Run(newPlayer func(*Match) Player) error {
	client := Client{NewPlayer: newPlayer}
	return client.Run(context.Background())
}

// Client is a bot with its settings. What is left zero comes from the environment, or is what most
// bots want.
type Client struct {
	// NewPlayer returns the player of a match that begins. It is called for several matches at
	// once where MaxMatches allows it.
	NewPlayer func(*Match) Player

	// Address is where the referee listens: host:port or unix:/path. Zero: ASARA_ADDRESS.
	Address string
	// Token is the secret that binds the bot to its seats. Zero: ASARA_TOKEN.
	Token string
	// Seed makes [Match.Rand] and the nonces of joint deals repeatable. Zero: ASARA_SEED, or else a new seed for every run.
	Seed string
	// CA is the path of the certificate that the referee's certificate must be signed by; it turns
	// TLS on. Zero: ASARA_CA.
	CA string
	// TLS turns TLS on with these settings; CA is added to them. An empty tls.Config trusts the
	// system's certificates. Zero: TLS where there is a CA.
	TLS *tls.Config

	// Transcript is a folder for a file per match with all that the referee said in it. Zero:
	// ASARA_TRANSCRIPT, or else no transcripts.
	Transcript string

	// Name and version of the bot, for the referee's log. Zero: the name of the program.
	Name string
	// MaxMatches is how many matches the bot can play at once. Zero: 1.
	MaxMatches int
	// LiveUpdates asks for events after every turn, instead of with the next decision.
	LiveUpdates bool
	// OmitPublicView leaves the public view out of decisions, for bots that follow the events.
	OmitPublicView bool

	// GiveUpAfter is how long to try to reach a referee that does not answer. Zero: 30 seconds.
	GiveUpAfter time.Duration
	// Log is told of breaks and rejections. Zero: slog.Default(), which writes to standard error.
	Log *slog.Logger

	nonceSeed string // Seed, but empty where the author and the environment gave none
}

// Run is [Run] with these settings, until ctx is done.
//
// It dials again by itself when the connection breaks. It returns a [*RefusedError] where dialling
// again is of no use.
func (c *Client) Run(ctx context.Context) error {
	s, err := newSession(*c)
	if err != nil {
		return err
	}
	return s.run(ctx)
}

// hello is the first message of every stream.
func (s *session) hello() *asarav1.PlayRequest {
	hello := &asarav1.Hello{
		ProtocolVersion: protocolVersion,
		Token:           s.client.Token,
		BotName:         s.client.Name,
		Language:        language(),
		MaxMatches:      int32(s.client.MaxMatches),
		LiveUpdates:     s.client.LiveUpdates,
		OmitPublicView:  s.client.OmitPublicView,
	}
	for id, table := range s.tables {
		last := &asarav1.LastEvent{MatchId: id, Sequence: table.received}
		hello.LastEvents = append(hello.LastEvents, last)
	}
	return &asarav1.PlayRequest{Request: &asarav1.PlayRequest_Hello{Hello: hello}}
}
