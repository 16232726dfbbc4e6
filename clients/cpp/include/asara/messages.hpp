#pragma once

#include <asara/v1/play.pb.h>

namespace asara {

// The generated messages under shorter names: asara::Decision, asara::AREA_BANK.
using namespace v1;

}  // namespace asara
