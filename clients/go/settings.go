package asara

import (
	"cmp"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// The server keeps this much of a name.
const nameBytes = 64

var errNoReferee = errors.New(
	"start me through `asara match` or set ASARA_ADDRESS and ASARA_TOKEN")

// complete fills in from the environment what the author left zero.
func (c *Client) complete() error {
	if c.NewPlayer == nil {
		return errors.New("asara: Client.NewPlayer is not set: it returns the player of a match")
	}
	c.Address = cmp.Or(c.Address, os.Getenv("ASARA_ADDRESS"))
	c.Token = cmp.Or(c.Token, os.Getenv("ASARA_TOKEN"))
	c.Seed = cmp.Or(c.Seed, os.Getenv("ASARA_SEED"))
	c.CA = cmp.Or(c.CA, os.Getenv("ASARA_CA"))
	c.Transcript = cmp.Or(c.Transcript, os.Getenv("ASARA_TRANSCRIPT"))
	if c.Address == "" {
		return fmt.Errorf("asara: ASARA_ADDRESS is not set: %w", errNoReferee)
	}
	if c.Token == "" {
		return fmt.Errorf("asara: ASARA_TOKEN is not set: %w", errNoReferee)
	}
	if err := checkAddress(c.Address); err != nil {
		return err
	}
	if c.MaxMatches < 0 {
		return fmt.Errorf("asara: Client.MaxMatches is %d: 1 or more is possible", c.MaxMatches)
	}
	if c.Transcript != "" {
		if err := os.MkdirAll(c.Transcript, 0o777); err != nil {
			return fmt.Errorf("asara: ASARA_TRANSCRIPT: %w", err)
		}
	}
	c.nonceSeed = c.Seed
	if c.Seed == "" {
		var seed [16]byte
		if _, err := rand.Read(seed[:]); err != nil {
			return fmt.Errorf("asara: no seed: %w", err)
		}
		c.Seed = hex.EncodeToString(seed[:])
	}
	c.Name = shorten(cmp.Or(c.Name, filepath.Base(os.Args[0])), nameBytes)
	c.MaxMatches = cmp.Or(c.MaxMatches, 1)
	c.GiveUpAfter = cmp.Or(c.GiveUpAfter, 30*time.Second)
	c.Log = cmp.Or(c.Log, slog.Default())
	return nil
}

func checkAddress(address string) error {
	path, isUnix := strings.CutPrefix(address, "unix:")
	if isUnix && path != "" {
		return nil
	}
	host, port, err := net.SplitHostPort(address)
	if isUnix || err != nil || host == "" || port == "" {
		return fmt.Errorf("asara: ASARA_ADDRESS is %q: host:port or unix:/path was expected", address)
	}
	return nil
}

// credentials returns TLS where a CA or settings ask for it.
func (c *Client) credentials() (credentials.TransportCredentials, error) {
	if c.CA == "" && c.TLS == nil {
		return insecure.NewCredentials(), nil
	}
	config := c.TLS.Clone()
	if config == nil {
		config = &tls.Config{}
	}
	if c.CA != "" {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("asara: ASARA_CA: %w", err)
		}
		if config.RootCAs == nil {
			config.RootCAs = x509.NewCertPool()
		} else {
			config.RootCAs = config.RootCAs.Clone()
		}
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("asara: ASARA_CA: %s holds no certificate in PEM form", c.CA)
		}
	}
	return credentials.NewTLS(config), nil
}

func language() string { return shorten("go "+strings.TrimPrefix(runtime.Version(), "go"), nameBytes) }

// shorten cuts text to so many bytes without leaving half a character.
func shorten(text string, limit int) string {
	if len(text) > limit {
		text = text[:limit]
	}
	return strings.ToValidUTF8(text, "")
}
