#include "transport_fault.hpp"

#include <netdb.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string_view>

namespace asara::detail {
namespace {

constexpr int timeout_s = 2;
constexpr std::string_view http2_preface{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33};
constexpr char settings_frame = 4;  // the first frame of every HTTP/2 server (RFC 9113, 3.4)

class Socket {
public:
    explicit Socket(const addrinfo& address)
        : number_(::socket(address.ai_family, address.ai_socktype, address.ai_protocol)) {
        const timeval timeout{timeout_s, 0};
        ::setsockopt(number_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        ::setsockopt(number_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    Socket(Socket&&) = delete;
    Socket& operator=(Socket&&) = delete;
    ~Socket() { ::close(number_); }

    [[nodiscard]] int number() const { return number_; }
    [[nodiscard]] bool connect(const addrinfo& address) const {
        return ::connect(number_, address.ai_addr, address.ai_addrlen) == 0;
    }

private:
    int number_;
};

std::unique_ptr<Socket> connect_to(const std::string& address) {
    const auto colon = address.rfind(':');
    auto host = address.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    }
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &found) != 0) {
        return nullptr;
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
    for (const auto* each = addresses.get(); each != nullptr; each = each->ai_next) {
        auto socket = std::make_unique<Socket>(*each);
        if (socket->connect(*each)) {
            return socket;
        }
    }
    return nullptr;
}

bool answers_without_tls(const Socket& socket) {
    if (::send(socket.number(), http2_preface.data(), http2_preface.size(), MSG_NOSIGNAL) < 0) {
        return false;
    }
    std::array<char, 4> frame{};
    const auto count = ::recv(socket.number(), frame.data(), frame.size(), MSG_WAITALL);
    return count == static_cast<ssize_t>(frame.size()) && frame.back() == settings_frame;
}

bool answers_with_tls(const Socket& socket) {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(
        SSL_CTX_new(TLS_client_method()), &SSL_CTX_free
    );
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);  // nothing is sent over it
    const std::unique_ptr<SSL, decltype(&SSL_free)> connection(SSL_new(context.get()), &SSL_free);
    SSL_set_fd(connection.get(), socket.number());
    return SSL_connect(connection.get()) == 1;
}

}  // namespace

std::string transport_fault(const std::string& address, bool tls) {
    if (address.starts_with("unix:")) {
        return "";
    }
    const auto socket = connect_to(address);
    if (socket == nullptr) {
        return "";
    }
    if (tls && answers_without_tls(*socket)) {
        return "the referee at " + address +
               " uses no TLS, and ASARA_CA is set: unset ASARA_CA, or check ASARA_ADDRESS";
    }
    if (!tls && answers_with_tls(*socket)) {
        return "the referee at " + address +
               " uses TLS, and ASARA_CA is not set: set it to the file of the referee's "
               "certificate, which its organiser gives you";
    }
    return "";
}

}  // namespace asara::detail
