#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "asara/messages.hpp"
#include "asara/settings.hpp"

namespace asara::detail {

// Why a stream ended: the status and the referee's asara-reason.
struct StreamEnd {
    grpc::Status status;
    std::string reason;
};

// Name of a status code, such as "UNAVAILABLE".
std::string status_name(grpc::StatusCode code);

// Credentials for the certificate of Settings::ca, or none; throws ConfigurationError.
std::shared_ptr<grpc::ChannelCredentials> credentials(const Settings& settings);

// One stream on a connection of its own, used from one thread, which also does the work of gRPC: no
// other thread has to wake for a message. Messages are bytes, because the digest needs them as
// received.
class PlayStream {
public:
    PlayStream(
        const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& credentials
    );
    PlayStream(const PlayStream&) = delete;
    PlayStream& operator=(const PlayStream&) = delete;
    PlayStream(PlayStream&&) = delete;
    PlayStream& operator=(PlayStream&&) = delete;
    ~PlayStream();

    // Sends a request. If the stream is broken, `read` is what notices.
    void write(const PlayRequest& request);

    // Waits for the next message, which is valid until the next call; nullopt if the stream ended.
    std::optional<std::string_view> read();

    // Returns why the stream ended, after `read` has returned nullopt.
    StreamEnd finish();

private:
    enum class Operation : std::uintptr_t { start = 1, read, write, finish };

    static void* tag(Operation operation);
    bool wait_for(Operation operation);

    std::shared_ptr<grpc::Channel> channel_;
    grpc::GenericStub stub_;
    grpc::ClientContext context_;
    grpc::CompletionQueue queue_;
    std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
    std::deque<grpc::ByteBuffer> unsent_;  // the first one is being written
    grpc::ByteBuffer received_;
    grpc::Slice message_;
};

}  // namespace asara::detail
