package asara

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"time"
)

const probeTimeout = 2 * time.Second

// http2Preface is what a client of HTTP/2 without TLS sends first: the preface and empty settings.
const http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00"

const settingsFrame = 4 // the first frame of every HTTP/2 server (RFC 9113, 3.4)

// transportFault returns an error if TLS is used at one end only, which gRPC reports in other words.
// It looks only if the referee was never met, and sends nothing secret.
func (s *session) transportFault(ctx context.Context, met bool) error {
	address := s.client.Address
	if met || strings.HasPrefix(address, "unix:") {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil //nolint:nilerr // gRPC's own error says it
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	encrypted := s.client.CA != "" || s.client.TLS != nil
	switch {
	case encrypted && answersWithoutTLS(conn):
		return misconfigured("the referee at %s uses no TLS, and ASARA_CA is set: "+
			"unset ASARA_CA, or check ASARA_ADDRESS", address)
	case !encrypted && answersWithTLS(ctx, conn):
		return misconfigured("the referee at %s uses TLS, and ASARA_CA is not set: set it to "+
			"the file of the referee's certificate, which its organiser gives you", address)
	}
	return nil
}

func answersWithoutTLS(conn net.Conn) bool {
	if _, err := io.WriteString(conn, http2Preface); err != nil {
		return false
	}
	var frame [4]byte
	_, err := io.ReadFull(conn, frame[:])
	return err == nil && frame[3] == settingsFrame
}

func answersWithTLS(ctx context.Context, conn net.Conn) bool {
	// nothing is sent over this connection
	config := &tls.Config{InsecureSkipVerify: true} //nolint:gosec
	return tls.Client(conn, config).HandshakeContext(ctx) == nil
}
