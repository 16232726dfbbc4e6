//! The connection to the referee: gRPC with messages as bytes.

use std::error::Error as _;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use http::uri::PathAndQuery;
use prost::bytes::{Buf, BufMut, Bytes};
use rustls::pki_types::ServerName;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder, Streaming};
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status};

use crate::error::{line, Error};
use crate::settings::{host_and_port, Settings};

const PLAY: &str = "/asara.v1.PlayService/Play";
/// In the trailing metadata.
const REASON_KEY: &str = "asara-reason";
/// Reason of a status after which a new stream may be accepted a little later.
const TOO_MANY_STREAMS: &str = "too-many-streams";

/// A connection that is lost silently, as between machines, is detected within 40 s. On a Unix
/// socket none is lost silently, and a referee that is stopped for a while keeps its bots.
const KEEPALIVE: Duration = Duration::from_secs(20);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes of a response.
const LARGEST_RESPONSE: usize = 64 << 20;

const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// The first frame of every HTTP/2 server (RFC 9113, 3.4).
const SETTINGS_FRAME: u8 = 4;
/// The type and the major version of a server's first TLS record: its hello, or an alert.
const TLS_RECORDS: [[u8; 2]; 2] = [[22, 3], [21, 3]];

/// Passes messages as bytes: the digest needs them as received, and `ProtocolClient` knows them.
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

/// A `Play` stream. Its connection lives as long as the runtime that it was opened on.
pub(crate) struct Stream {
    pub(crate) requests: mpsc::UnboundedSender<Bytes>,
    pub(crate) responses: Streaming<Bytes>,
}

/// Describes the referee's address and how to connect to it.
pub(crate) fn endpoint(settings: &Settings) -> Result<Endpoint, Error> {
    let address = &settings.address;
    let invalid = |detail: String| {
        Error::Configuration(format!("ASARA_ADDRESS is '{address}': {}", line(&detail)))
    };
    let authority = settings.authority()?;
    let url = match (address.starts_with("unix:"), &authority) {
        (true, _) => address.clone(),
        (false, None) => format!("http://{address}"),
        (false, Some(_)) => format!("https://{address}"),
    };
    let mut endpoint = Endpoint::from_shared(url)
        .map_err(|error| invalid(root_cause(&error)))?
        .connect_timeout(CONNECT_TIMEOUT);
    if !address.starts_with("unix:") {
        endpoint = endpoint
            .http2_keep_alive_interval(KEEPALIVE)
            .keep_alive_timeout(KEEPALIVE)
            .keep_alive_while_idle(true);
    }
    if let Some(pem) = authority {
        let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem));
        endpoint = endpoint
            .tls_config(tls)
            .map_err(|error| Error::Configuration(format!("ASARA_CA: {}", root_cause(&error))))?;
    }
    Ok(endpoint)
}

/// Opens a stream that begins with this request.
pub(crate) async fn open(endpoint: &Endpoint, hello: Bytes) -> Result<Stream, Status> {
    let channel: Channel = endpoint
        .connect()
        .await
        .map_err(|error| Status::unavailable(root_cause(&error)))?;
    let mut grpc = Grpc::new(channel).max_decoding_message_size(LARGEST_RESPONSE);
    grpc.ready()
        .await
        .map_err(|error| Status::unavailable(root_cause(&error)))?;
    let (requests, outgoing) = mpsc::unbounded_channel();
    let _ = requests.send(hello);
    let outgoing = Request::new(UnboundedReceiverStream::new(outgoing));
    let path = PathAndQuery::from_static(PLAY);
    let responses = grpc.streaming(outgoing, path, BytesCodec).await?;
    Ok(Stream {
        requests,
        responses: responses.into_inner(),
    })
}

/// Returns why a stream broke, or an error if a new connection would not help.
pub(crate) fn break_reason(address: &str, status: &Status) -> Result<String, Error> {
    let metadata = status.metadata().get(REASON_KEY);
    let reason = metadata.and_then(|value| value.to_str().ok());
    let retryable = match status.code() {
        Code::Cancelled | Code::DeadlineExceeded | Code::Internal => true,
        Code::Unavailable | Code::Unknown => true,
        _ => reason == Some(TOO_MANY_STREAMS),
    };
    if !retryable {
        return Err(Error::Refused {
            address: address.into(),
            code: code_name(status.code()),
            reason: reason.unwrap_or_default().into(),
            detail: status.message().into(),
        });
    }
    Ok(match (status.source(), status.message()) {
        (Some(source), _) => root_cause(source),
        (None, "") => code_name(status.code()).into(),
        (None, message) => line(message),
    })
}

/// Returns the text of the innermost error, which says what happened.
fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    match error.downcast_ref() {
        Some(error) => crate::error::cause(error),
        None => line(&error.to_string()),
    }
}

fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

/// Returns the fault and its remedy if the server uses TLS and `tls` is false.
///
/// Likewise if `tls` is true and it uses none. Returns None in all other cases, as if nothing
/// listens there. Nothing secret is sent.
pub(crate) fn transport_fault(address: &str, tls: bool) -> Option<String> {
    if address.starts_with("unix:") {
        return None;
    }
    let (host, _) = host_and_port(address)?;
    let socket = address.to_socket_addrs().ok()?.next()?;
    let mut connection = TcpStream::connect_timeout(&socket, PROBE_TIMEOUT).ok()?;
    connection.set_read_timeout(Some(PROBE_TIMEOUT)).ok()?;
    if tls && answers_without_tls(&mut connection) == Some(true) {
        return Some(format!(
            "the referee at {address} uses no TLS, and ASARA_CA is set: \
             unset ASARA_CA, or check ASARA_ADDRESS"
        ));
    }
    if !tls && answers_with_tls(&mut connection, host) == Some(true) {
        return Some(format!(
            "the referee at {address} uses TLS, and ASARA_CA is not set: set it to the file of \
             the referee's certificate, which its organiser gives you"
        ));
    }
    None
}

fn answers_without_tls(connection: &mut TcpStream) -> Option<bool> {
    let mut frame = [0; 4];
    connection.write_all(HTTP2_PREFACE).ok()?;
    connection.read_exact(&mut frame).ok()?;
    Some(frame[3] == SETTINGS_FRAME)
}

fn answers_with_tls(connection: &mut TcpStream, host: &str) -> Option<bool> {
    let nothing_trusted = rustls::RootCertStore::empty(); // nothing is sent over this connection
    let config = rustls::ClientConfig::builder()
        .with_root_certificates(nothing_trusted)
        .with_no_client_auth();
    let name = host.trim_matches(['[', ']']).to_string();
    let name = ServerName::try_from(name).ok()?;
    let mut tls = rustls::ClientConnection::new(Arc::new(config), name).ok()?;
    let mut record = [0; 2];
    tls.write_tls(connection).ok()?;
    connection.read_exact(&mut record).ok()?;
    Some(TLS_RECORDS.contains(&record))
}
