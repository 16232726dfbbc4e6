package asara

import (
	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"asara/asarav1"
)

// rawResponse is a response with its bytes as received, which the digest of the match needs.
type rawResponse struct {
	bytes    []byte
	response asarav1.PlayResponse
}

// codec is gRPC's codec for protobuf, which also keeps the bytes of a rawResponse.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(encodingproto.Name)} }

// Unmarshal reads a message.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	raw, ok := v.(*rawResponse)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	raw.bytes = data.Materialize()
	return proto.Unmarshal(raw.bytes, &raw.response)
}
