package asara; // for the kit's UnixSocket

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.okhttp.OkHttpChannelBuilder;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/** A bare client of grpc-java: sends one message, then one for every message that it receives. */
public final class Echo extends ClientCall.Listener<byte[]> {
  private static final byte[] MESSAGE = new byte[16];

  private final ClientCall<byte[], byte[]> call;
  private final CompletableFuture<Status> end = new CompletableFuture<>();

  private Echo(ManagedChannel channel) {
    Bytes bytes = new Bytes();
    call =
        channel.newCall(
            MethodDescriptor.<byte[], byte[]>newBuilder()
                .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
                .setFullMethodName("asara.v1.PlayService/Play")
                .setRequestMarshaller(bytes)
                .setResponseMarshaller(bytes)
                .build(),
            CallOptions.DEFAULT);
    call.start(this, new Metadata());
    call.request(Integer.MAX_VALUE);
    call.sendMessage(MESSAGE);
  }

  public static void main(String[] args) {
    Path path = Path.of(System.getenv("ASARA_ADDRESS").substring("unix:".length()));
    ManagedChannel channel = // the options are those of the kit
        OkHttpChannelBuilder.forAddress("127.0.0.1", 1, InsecureChannelCredentials.create())
            .socketFactory(UnixSocket.factory(path))
            .overrideAuthority("localhost")
            .directExecutor()
            .disableRetry()
            .maxInboundMessageSize(64 << 20)
            .proxyDetector(server -> null)
            .build();
    Status status = new Echo(channel).end.join();
    if (!status.isOk()) {
      System.err.println("the stream ended: " + status);
      System.exit(1);
    }
  }

  @Override
  public void onMessage(byte[] message) {
    call.sendMessage(MESSAGE);
  }

  @Override
  public void onClose(Status status, Metadata trailers) {
    end.complete(status);
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
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
