//! Sends 16 bytes, and 16 more for every message received, until the stream ends.

use std::error::Error;

use bytes::{Buf, BufMut, Bytes};
use http::uri::PathAndQuery;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::Endpoint;
use tonic::{Request, Status};

const MESSAGE: Bytes = Bytes::from_static(&[b'x'; 16]);

#[derive(Default)]
struct BytesCodec;

impl Codec for BytesCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        BytesCodec
    }

    fn decoder(&mut self) -> Self {
        BytesCodec
    }
}

impl Encoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put(message);
        Ok(())
    }
}

impl Decoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, message: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(message.copy_to_bytes(message.remaining())))
    }
}

async fn echo() -> Result<(), Box<dyn Error>> {
    let endpoint = Endpoint::from_shared(std::env::var("ASARA_ADDRESS")?)?;
    let mut grpc = Grpc::new(endpoint.connect().await?).max_decoding_message_size(64 << 20);
    grpc.ready().await?;
    let (requests, outgoing) = mpsc::unbounded_channel();
    requests.send(MESSAGE)?;
    let outgoing = Request::new(UnboundedReceiverStream::new(outgoing));
    let path = PathAndQuery::from_static("/asara.v1.PlayService/Play");
    let mut responses = grpc
        .streaming(outgoing, path, BytesCodec)
        .await?
        .into_inner();
    while responses.message().await?.is_some() {
        requests.send(MESSAGE)?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(echo())
}
