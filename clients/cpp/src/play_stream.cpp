#include "play_stream.hpp"

#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/slice.h>

#include <array>
#include <bit>

#include "complete_settings.hpp"

namespace asara::detail {
namespace {

constexpr auto play_method = "/asara.v1.PlayService/Play";
constexpr auto reason_key = "asara-reason";  // in the trailing metadata
constexpr int keepalive_ms = 20'000;
constexpr int largest_message = 64 << 20;

grpc::ChannelArguments channel_arguments(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(largest_message);
    // Each attempt really connects; run() times the pauses.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    // http_proxy is often set although the referee is local.
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    if (!address.starts_with("unix:")) {
        // A connection that is lost silently, as between machines, is detected within 40 s. On a
        // Unix socket none is lost silently, and a referee that is stopped for a while keeps its
        // bots.
        arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive_ms);
        arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive_ms);
        arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
    }
    return arguments;
}

grpc::ByteBuffer serialize(const PlayRequest& request) {
    grpc_slice bytes = grpc_slice_malloc(request.ByteSizeLong());
    request.SerializeWithCachedSizesToArray(GRPC_SLICE_START_PTR(bytes));
    const grpc::Slice slice(bytes, grpc::Slice::STEAL_REF);
    return {&slice, 1};
}

}  // namespace

std::string status_name(grpc::StatusCode code) {
    static const std::array<std::string, 17> names{
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    };
    const auto number = static_cast<std::size_t>(code);
    return number < names.size() ? names.at(number) : "status " + std::to_string(number);
}

std::shared_ptr<grpc::ChannelCredentials> credentials(const Settings& settings) {
    if (settings.ca.empty()) {
        return grpc::InsecureChannelCredentials();
    }
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = read_certificate(settings.ca);
    return grpc::SslCredentials(options);
}

PlayStream::PlayStream(
    const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& credentials
)
    : channel_(grpc::CreateCustomChannel(address, credentials, channel_arguments(address))),
      stub_(channel_),
      call_(stub_.PrepareCall(&context_, play_method, &queue_)) {
    call_->StartCall(tag(Operation::start));
    wait_for(Operation::start);
}

PlayStream::~PlayStream() {
    context_.TryCancel();
    queue_.Shutdown();
    void* operation = nullptr;
    bool succeeded = false;
    while (queue_.Next(&operation, &succeeded)) {
    }
}

void PlayStream::write(const PlayRequest& request) {
    unsent_.push_back(serialize(request));
    if (unsent_.size() == 1) {
        call_->Write(unsent_.front(), tag(Operation::write));
    }
}

std::optional<std::string_view> PlayStream::read() {
    call_->Read(&received_, tag(Operation::read));
    if (!wait_for(Operation::read)) {
        return std::nullopt;
    }
    if (!received_.TrySingleSlice(&message_).ok() && !received_.DumpToSingleSlice(&message_).ok()) {
        return std::nullopt;
    }
    received_.Clear();
    return std::string_view(std::bit_cast<const char*>(message_.begin()), message_.size());
}

StreamEnd PlayStream::finish() {
    StreamEnd end;
    call_->Finish(&end.status, tag(Operation::finish));
    wait_for(Operation::finish);
    const auto& trailing = context_.GetServerTrailingMetadata();
    if (const auto reason = trailing.find(reason_key); reason != trailing.end()) {
        end.reason.assign(reason->second.data(), reason->second.size());
    }
    return end;
}

void* PlayStream::tag(Operation operation) { return std::bit_cast<void*>(operation); }

// Runs gRPC until the operation is complete; returns true if it succeeded.
bool PlayStream::wait_for(Operation operation) {
    void* completed = nullptr;
    bool succeeded = false;
    while (queue_.Next(&completed, &succeeded)) {
        if (completed == tag(Operation::write)) {
            unsent_.pop_front();
            if (succeeded && !unsent_.empty()) {
                call_->Write(unsent_.front(), tag(Operation::write));
            }
        }
        if (completed == tag(operation)) {
            return succeeded;
        }
    }
    return false;
}

}  // namespace asara::detail
