package asara;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import javax.net.SocketFactory;

/** A Unix socket as a {@link Socket}, which Java does not provide, as far as gRPC uses it. */
final class UnixSocket extends Socket {
  private final SocketChannel channel;

  private UnixSocket(Path path) throws IOException {
    channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.connect(UnixDomainSocketAddress.of(path));
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  /** Returns a factory whose sockets connect to a path, whatever the address. */
  static SocketFactory factory(Path path) {
    return new SocketFactory() {
      @Override
      public Socket createSocket(InetAddress address, int port) throws IOException {
        return new UnixSocket(path);
      }

      @Override
      public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort)
          throws IOException {
        return new UnixSocket(path);
      }

      @Override
      public Socket createSocket(String host, int port) throws IOException {
        return new UnixSocket(path);
      }

      @Override
      public Socket createSocket(String host, int port, InetAddress local, int localPort)
          throws IOException {
        return new UnixSocket(path);
      }
    };
  }

  // Not Channels.newInputStream and newOutputStream: they share a lock, so that a write would wait
  // for the end of a read.

  @Override
  public InputStream getInputStream() {
    return new InputStream() {
      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] bytes, int offset, int length) throws IOException {
        return channel.read(ByteBuffer.wrap(bytes, offset, length));
      }
    };
  }

  @Override
  public OutputStream getOutputStream() {
    return new OutputStream() {
      @Override
      public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes, offset, length);
        while (buffer.hasRemaining()) {
          channel.write(buffer);
        }
      }
    };
  }

  @Override
  public void setTcpNoDelay(boolean on) {
    // Unix sockets have no such delay.
  }

  @Override
  public SocketAddress getRemoteSocketAddress() {
    return address(true);
  }

  @Override
  public SocketAddress getLocalSocketAddress() {
    return address(false);
  }

  private SocketAddress address(boolean remote) {
    try {
      return remote ? channel.getRemoteAddress() : channel.getLocalAddress();
    } catch (IOException e) { // closed
      return null;
    }
  }

  @Override
  public boolean isConnected() {
    return channel.isConnected();
  }

  @Override
  public boolean isClosed() {
    return !channel.isOpen();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
