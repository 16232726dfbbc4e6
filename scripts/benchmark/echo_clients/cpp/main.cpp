// A bare client of grpc++: sends one message, then one for every message that it receives.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

namespace {

enum class Operation : std::intptr_t { start = 1, read, write, finish };

void* tag(Operation operation) { return reinterpret_cast<void*>(operation); }

grpc::ByteBuffer request() {
    const grpc::Slice slice(std::string(16, 'x'));
    return {&slice, 1};
}

}  // namespace

int main() {
    const auto* const address = std::getenv("ASARA_ADDRESS");
    if (address == nullptr) {
        std::cerr << "ASARA_ADDRESS is not set\n";
        return 2;
    }
    grpc::ChannelArguments arguments;  // those of the kit
    arguments.SetMaxReceiveMessageSize(64 << 20);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    grpc::GenericStub stub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments)
    );
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareCall(&context, "/asara.v1.PlayService/Play", &queue);
    call->StartCall(tag(Operation::start));

    grpc::ByteBuffer response;
    grpc::Status status;
    bool writing = false;
    int owed = 0;  // messages to send, one at a time
    void* completed = nullptr;
    bool succeeded = false;
    while (queue.Next(&completed, &succeeded) && completed != tag(Operation::finish)) {
        if (completed == tag(Operation::write)) {
            writing = false;
        } else if (succeeded) {
            call->Read(&response, tag(Operation::read));
            ++owed;
        } else {
            call->Finish(&status, tag(Operation::finish));
        }
        if (owed > 0 && !writing) {
            call->Write(request(), tag(Operation::write));
            writing = true;
            --owed;
        }
    }
    queue.Shutdown();
    while (queue.Next(&completed, &succeeded)) {
    }
    if (!status.ok()) {
        std::cerr << "the stream ended: " << status.error_message() << '\n';
        return 1;
    }
}
