package asara;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/** Finds out why a connection fails: TLS at one end only, which gRPC reports in other words. */
final class TransportFault {
  private static final int TIMEOUT_MILLIS = 2000;
  private static final byte[] HTTP2_PREFACE =
      Sha256.utf8("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0");
  private static final int SETTINGS = 4; // the first frame of every HTTP/2 server (RFC 9113, 3.4)

  private TransportFault() {}

  /**
   * Returns the fault and its remedy if the server at {@code address} uses TLS and {@code tls} is
   * false, or the reverse; "" in all other cases, as if nothing listens there. Nothing secret is
   * sent.
   */
  static String find(String address, boolean tls) {
    if (address.startsWith("unix:")) {
      return "";
    }
    int colon = address.lastIndexOf(':');
    String host = address.substring(0, colon).replaceAll("[\\[\\]]", "");
    try (Socket socket = new Socket()) {
      int port = Integer.parseInt(address.substring(colon + 1));
      socket.connect(new InetSocketAddress(host, port), TIMEOUT_MILLIS);
      socket.setSoTimeout(TIMEOUT_MILLIS);
      if (tls && answersWithoutTls(socket)) {
        return ("the referee at %s uses no TLS, and ASARA_CA is set: unset ASARA_CA, or check"
                + " ASARA_ADDRESS")
            .formatted(address);
      }
      if (!tls && answersWithTls(socket, host, port)) {
        return ("the referee at %s uses TLS, and ASARA_CA is not set: set it to the file of the"
                + " referee's certificate, which its organiser gives you")
            .formatted(address);
      }
    } catch (IOException | IllegalArgumentException | GeneralSecurityException e) {
      // Another fault, which gRPC reports.
    }
    return "";
  }

  private static boolean answersWithoutTls(Socket socket) throws IOException {
    socket.getOutputStream().write(HTTP2_PREFACE);
    InputStream in = socket.getInputStream();
    byte[] frame = in.readNBytes(4);
    return frame.length == 4 && frame[3] == SETTINGS;
  }

  private static boolean answersWithTls(Socket socket, String host, int port)
      throws IOException, GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new TrustAll()}, null);
    try (SSLSocket tls =
        (SSLSocket) context.getSocketFactory().createSocket(socket, host, port, true)) {
      tls.startHandshake();
    }
    return true;
  }

  /** Trusts every certificate, because nothing is sent over the connection. */
  private static final class TrustAll implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
