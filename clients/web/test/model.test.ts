import { create } from "@bufbuild/protobuf";
import { PublicViewSchema } from "asara/gen/view_pb.js";
import { expect, test } from "vitest";

test("the messages of the TypeScript client can be used", () => {
  expect(create(PublicViewSchema, { year: 2 }).year).toBe(2);
});
