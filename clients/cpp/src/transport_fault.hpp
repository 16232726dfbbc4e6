#pragma once

#include <string>

namespace asara::detail {

// The fault and its remedy if TLS is used at one end only, which gRPC reports in other words; empty
// in all other cases, as if nothing listens there. Nothing secret is sent.
std::string transport_fault(const std::string& address, bool tls);

}  // namespace asara::detail
