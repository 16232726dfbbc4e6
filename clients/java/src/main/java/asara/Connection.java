package asara;

import asara.v1.PlayRequest;
import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.TlsChannelCredentials;
import io.grpc.okhttp.OkHttpChannelBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A channel to the referee with one stream. Responses are passed as the bytes received. */
final class Connection implements AutoCloseable {
  private static final int RECEIVE_BYTES = 64 << 20;
  private static final long KEEPALIVE_S = 20;
  private static final long CLOSING_S = 2;

  private static final MethodDescriptor<PlayRequest, byte[]> PLAY =
      MethodDescriptor.<PlayRequest, byte[]>newBuilder()
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
          .setFullMethodName("asara.v1.PlayService/Play")
          .setRequestMarshaller(new RequestMarshaller())
          .setResponseMarshaller(new BytesMarshaller())
          .build();

  /** A response, or the end of the stream if {@code message} is null. */
  record Received(byte[] message, Status status, Metadata trailers) {}

  private final BlockingQueue<Received> received = new LinkedBlockingQueue<>();
  private final ManagedChannel channel;
  private final ClientCall<PlayRequest, byte[]> call;

  /** Connects in the background; {@code certificates} is null without TLS. */
  Connection(String address, byte[] certificates) {
    channel = channel(address, certificates);
    call = channel.newCall(PLAY, CallOptions.DEFAULT);
    call.start(new Listener(), new Metadata());
    call.request(Integer.MAX_VALUE);
  }

  void send(PlayRequest request) {
    call.sendMessage(request);
  }

  /** Waits for the next response or the end of the stream. */
  Received receive() throws InterruptedException {
    return received.take();
  }

  /** Closes the connection: a Unix socket of the referee permits no second one beside it. */
  @Override
  public void close() {
    channel.shutdownNow();
    try {
      channel.awaitTermination(CLOSING_S, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static ManagedChannel channel(String address, byte[] certificates) {
    ChannelCredentials credentials = credentials(certificates);
    OkHttpChannelBuilder builder;
    if (address.startsWith("unix:")) {
      builder =
          OkHttpChannelBuilder.forAddress("127.0.0.1", 1, credentials)
              .socketFactory(UnixSocket.factory(Path.of(address.substring("unix:".length()))))
              .overrideAuthority("localhost");
    } else {
      // A connection that is lost silently, as between machines, is detected within 40 s. On a Unix
      // socket none is lost silently, and a referee that is stopped for a while keeps its bots.
      builder =
          OkHttpChannelBuilder.forTarget(address, credentials)
              .keepAliveTime(KEEPALIVE_S, TimeUnit.SECONDS)
              .keepAliveTimeout(KEEPALIVE_S, TimeUnit.SECONDS)
              .keepAliveWithoutCalls(true);
    }
    return builder
        .directExecutor() // the listener only queues
        .disableRetry() // the stream is never repeated by gRPC; we connect again
        .maxInboundMessageSize(RECEIVE_BYTES)
        .proxyDetector(server -> null) // http_proxy is often set although the referee is local
        .build();
  }

  private static ChannelCredentials credentials(byte[] certificates) {
    if (certificates == null) {
      return InsecureChannelCredentials.create();
    }
    try {
      return TlsChannelCredentials.newBuilder()
          .trustManager(new ByteArrayInputStream(certificates))
          .build();
    } catch (IOException e) { // never, because the stream is in memory
      throw new UncheckedIOException(e);
    }
  }

  private final class Listener extends ClientCall.Listener<byte[]> {
    @Override
    public void onMessage(byte[] message) {
      received.add(new Received(message, null, null));
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      received.add(new Received(null, status, trailers));
    }
  }

  private static final class RequestMarshaller implements MethodDescriptor.Marshaller<PlayRequest> {
    @Override
    public InputStream stream(PlayRequest request) {
      return new ByteArrayInputStream(request.toByteArray());
    }

    @Override
    public PlayRequest parse(InputStream stream) {
      throw new UnsupportedOperationException();
    }
  }

  private static final class BytesMarshaller implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] message) {
      return new ByteArrayInputStream(message);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try (stream) {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
