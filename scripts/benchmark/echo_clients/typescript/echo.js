// A bare client of grpc-js: answers every message with 16 bytes, with the transport of the kit.
const grpc = require("@grpc/grpc-js");

const ANSWER = Buffer.alloc(16);
const OPTIONS = {
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_retries": 0,
  "grpc.service_config_disable_resolution": 1,
  "grpc.max_receive_message_length": 64 * 2 ** 20,
};

const client = new grpc.Client(
  process.env.ASARA_ADDRESS,
  grpc.credentials.createInsecure(),
  OPTIONS,
);
const asReceived = (bytes) => bytes;
const play = client.makeBidiStreamRequest("/asara.v1.PlayService/Play", asReceived, asReceived);
play.on("data", () => play.write(ANSWER));
play.on("end", () => client.close());
play.write(ANSWER);
