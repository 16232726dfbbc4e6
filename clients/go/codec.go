package asara

import (
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"asara/asarav1"
)

// heard is a response with the bytes that it came as, which the digest of its match is made of.
type heard struct {
	message  []byte
	response asarav1.PlayResponse
}

// codec is gRPC's own for protobuf; only a heard keeps the bytes as well.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(encodingproto.Name)} }

// Unmarshal reads a message.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	h, ok := v.(*heard)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	h.message = data.Materialize()
	return proto.Unmarshal(h.message, &h.response)
}
