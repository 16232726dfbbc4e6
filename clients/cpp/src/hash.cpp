#include "hash.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <memory>

#include "asara/error.hpp"
#include "strings.hpp"

namespace asara::detail {
namespace {

void require(bool succeeded) {
    if (!succeeded) {
        throw Error("OpenSSL failed to compute a hash or random numbers");
    }
}

}  // namespace

Digest sha256(std::initializer_list<std::string_view> parts) {
    // Looking the algorithm up takes longer than hashing a message; so it is done once.
    static const std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> algorithm(
        EVP_MD_fetch(nullptr, "SHA256", nullptr), &EVP_MD_free
    );
    thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(
        EVP_MD_CTX_new(), &EVP_MD_CTX_free
    );
    Digest digest{};
    require(EVP_DigestInit_ex2(context.get(), algorithm.get(), nullptr) == 1);
    for (const auto part : parts) {
        require(EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1);
    }
    require(EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1);
    return digest;
}

std::string hmac_sha256(std::string_view key, std::string_view message) {
    Digest digest{};
    const auto text = bytes_of(message);
    require(
        HMAC(
            EVP_sha256(), key.data(), static_cast<int>(key.size()), text.data(), text.size(),
            digest.data(), nullptr
        ) != nullptr
    );
    return std::string(view_of(digest));
}

std::string random_bytes(int count) {
    std::basic_string<unsigned char> bytes(static_cast<std::size_t>(count), 0);
    require(RAND_bytes(bytes.data(), count) == 1);
    return {bytes.begin(), bytes.end()};
}

std::string_view view_of(const Digest& digest) {
    // NOLINTNEXTLINE(*-reinterpret-cast): any object may be read as bytes
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace asara::detail
