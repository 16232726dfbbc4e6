#include "asara/error.hpp"

#include <map>
#include <sstream>
#include <utility>

#include "strings.hpp"

namespace asara {
namespace {

std::string refusal(
    const std::string& address,
    const std::string& code,
    const std::string& reason,
    const std::string& detail
) {
    static const std::string client_library = "use the client library that comes with the referee";
    static const std::map<std::string, std::string> advice_for{
        {"UNAUTHENTICATED",
         "set ASARA_TOKEN to what `asara match` printed last, or what the organiser gave you"},
        {"FAILED_PRECONDITION", client_library},
        {"INVALID_ARGUMENT", client_library},
        {"ABORTED", "each process needs its own token"},
        {"RESOURCE_EXHAUSTED", "see the limits in proto/README.md"},
        {"UNIMPLEMENTED", "no ASARA referee listens there; check ASARA_ADDRESS"},
    };
    auto text = "the referee at " + address + " refused this bot (" +
                (reason.empty() ? code : reason) + "): " + detail::one_line(detail);
    const auto advice = advice_for.find(code);
    return advice == advice_for.end() ? text : text + "; " + advice->second;
}

std::string loss(const std::string& address, double patience_s, const std::string& detail) {
    std::ostringstream text;
    text << "no referee at " << address << " for " << patience_s
         << " s: " << detail::one_line(detail);
    return text.str();
}

}  // namespace

RefusedError::RefusedError(
    const std::string& address, std::string code, std::string reason, const std::string& detail
)
    : Error(refusal(address, code, reason, detail)),
      code_(std::move(code)),
      reason_(std::move(reason)) {}

ConnectionLostError::ConnectionLostError(
    const std::string& address, double patience_s, const std::string& detail
)
    : Error(loss(address, patience_s, detail)) {}

}  // namespace asara
