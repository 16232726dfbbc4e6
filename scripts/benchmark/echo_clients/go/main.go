// Command echo is a bare client of grpc-go: it answers every message with 16 bytes, with the transport
// of the kit.
package main

import (
	"context"
	"errors"
	"io"
	"log"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
)

// rawCodec passes messages as bytes.
type rawCodec struct{}

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (rawCodec) Name() string { return "proto" }

func main() {
	conn, err := grpc.NewClient(os.Getenv("ASARA_ADDRESS"),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithNoProxy(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20), grpc.ForceCodecV2(rawCodec{})))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	description := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	stream, err := conn.NewStream(context.Background(), description, "/asara.v1.PlayService/Play")
	if err != nil {
		log.Fatal(err)
	}
	answer, message := make([]byte, 16), []byte{}
	for {
		if err := stream.SendMsg(&answer); err != nil {
			log.Fatal(err)
		}
		if err := stream.RecvMsg(&message); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
	}
}
