package asara

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"
)

// Run plays all matches that the referee assigns to this process, each with its own player from
// newPlayer, and returns nil when the referee sends Goodbye. Settings come from the environment
// (see [Client]).
func Run(newPlayer func(*Match) Player) error {
	client := Client{NewPlayer: newPlayer}
	return client.Run(context.Background())
}

// Client is a bot with its settings. Fields that are zero come from the environment or have a
// default.
type Client struct {
	// NewPlayer returns the player of a new match. It is called concurrently if MaxMatches is
	// above 1.
	NewPlayer func(*Match) Player

	// Address of the referee, host:port or unix:/path. Default: ASARA_ADDRESS.
	Address string
	// Token is the secret that identifies the bot to the referee. Default: ASARA_TOKEN.
	Token string
	// Seed of [Match.Rand] and of nonces. Default: ASARA_SEED; without one every run differs.
	Seed string
	// CA is the path of the certificate (PEM) of the authority that signed the referee's. Default:
	// ASARA_CA; without one there is no TLS.
	CA string
	// TLS enables TLS with this configuration, to which CA is added. An empty tls.Config trusts the
	// system's certificates. Default: TLS if there is a CA.
	TLS *tls.Config

	// Transcript is a folder for transcripts, one file per match with all messages received.
	// Default: ASARA_TRANSCRIPT; without one there are no transcripts.
	Transcript string

	// Name and version of the program, for the referee's logs; truncated to 64 bytes. Default: the
	// name of the executable.
	Name string
	// MaxMatches is the maximum number of matches played at once. Default: 1.
	MaxMatches int
	// LiveUpdates requests events after every turn instead of with the next decision.
	LiveUpdates bool
	// OmitPublicView omits the public view from decisions, for bots that follow the events.
	OmitPublicView bool

	// GiveUpAfter is how long to try to reach the referee. Default: 30 seconds.
	GiveUpAfter time.Duration
	// Log receives warnings and errors. Default: slog.Default(), which writes to standard error.
	Log *slog.Logger

	nonceSeed string // Seed, or empty if neither the author nor the environment set one
}

// Run is [Run] with these settings, until ctx is done.
//
// It reconnects whenever the stream breaks, and returns a [*RefusedError] if a new connection would
// not help.
func (c *Client) Run(ctx context.Context) error {
	s, err := newSession(*c)
	if err != nil {
		return err
	}
	return s.run(ctx)
}
