#include "formats/megatron_trace.hpp"

#include <functional>

#include "formats/jsonl_run.hpp"
#include "support/catch.hpp"

using namespace detdiff;
using namespace detdiff::formats;

namespace {

const std::string k_tensor =
    R"({"event":"tensor","iteration":3,"metadata":{"layer":0},"microbatch":1,"name":"decoder.fc1.weight.grad",)"
    R"("occurrence":0,"phase":"backward","rank":0,"schema_version":1,"sequence":7,"tensor":{"all_finite":true,)"
    R"("captured_numel":8,"device_type":"cuda","dtype":"torch.bfloat16","exact_value_certificate":true,)"
    R"("layout":"strided","mode":"full","numel":8,"requires_grad":false,)"
    R"("sha256":"a9ad56f2457ec48c8b8c04f56c4bcc92c845ff50ba0e43673743b67422a18dc7","shape":[2,4],)"
    R"("stride":[4,1],"value_observed":true}})";
const std::string k_sampled =
    R"({"event":"tensor","iteration":1,"metadata":{},"microbatch":null,"name":"x","occurrence":0,)"
    R"("phase":"start","rank":0,"schema_version":1,"sequence":1,"tensor":{"all_finite":true,)"
    R"("captured_numel":4,"device_type":"cpu","dtype":"float32","exact_value_certificate":false,)"
    R"("layout":"strided","mode":"sampled","numel":10,"requires_grad":true,"sample_indices":[0,3,6,9],)"
    R"("sha256":"a9ad56f2457ec48c8b8c04f56c4bcc92c845ff50ba0e43673743b67422a18dc7","shape":[10],)"
    R"("stride":[1],"value_observed":true}})";
const std::string k_summary =
    R"({"event":"tensor","iteration":1,"metadata":{},"microbatch":0,"name":"x","occurrence":0,)"
    R"("phase":"start","rank":0,"schema_version":1,"sequence":1,"tensor":{"device_type":"cpu",)"
    R"("dtype":"float32","exact_value_certificate":false,"layout":"strided","mode":"summary","numel":2,)"
    R"("requires_grad":true,"shape":[2],"stride":[1],"summary":{"all_finite":false,"l2_norm":null,)"
    R"("maximum":0.5,"mean":-1e-3,"minimum":0},"value_observed":true}})";
const std::string k_event =
    R"({"event":"event","fields":{"num_microbatches":2},"iteration":1,"microbatch":null,)"
    R"("name":"iteration_start","occurrence":0,"phase":"train","rank":0,"schema_version":1,"sequence":0})";

Result<Record> parse(const std::string& text) {
  std::string padded = text;
  padded.resize(text.size() + 64);
  auto parser = make_megatron_trace_parser();
  ParsedLine line;
  auto done = parser->parse(std::string_view(padded).substr(0, text.size()), line);
  if (!done) return std::move(done).error();
  for (const Span& span : line.spans) CHECK(span.begin < span.end);
  return line.record;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

}  // namespace

TEST_CASE("a full tensor record is read whole", "[megatron]") {
  auto record = parse(k_tensor);
  REQUIRE(record);
  CHECK(record->kind == RecordKind::boundary);
  CHECK(record->site.iteration == 3);
  CHECK(record->site.microbatch == 1);
  CHECK(record->site.phase == "backward");
  CHECK(record->site.module == "decoder.fc1");
  CHECK(record->site.tensor == "weight.grad");
  CHECK(record->sequence == 7);
  const Fingerprint& print = record->outputs.at(0);
  CHECK(print.dtype == "bfloat16");
  CHECK(print.shape == std::vector<std::int64_t>{2, 4});
  CHECK(print.best_evidence() == Evidence::strong);
  CHECK(print.digests.at(0).hex() == "a9ad56f2457ec48c8b8c04f56c4bcc92c845ff50ba0e43673743b67422a18dc7");
}

TEST_CASE("modes carry their evidence", "[megatron]") {
  CHECK(parse(k_sampled)->outputs[0].best_evidence() == Evidence::sampled);
  CHECK(parse(k_summary)->outputs[0].best_evidence() == Evidence::statistics);
  const auto bare = replaced(replaced(replaced(k_summary, R"("summary":{"all_finite":false,"l2_norm":null,"maximum":0.5,"mean":-1e-3,"minimum":0},)", ""),
                                      "\"mode\":\"summary\"", "\"mode\":\"metadata\""),
                             "\"value_observed\":true", "\"value_observed\":false");
  CHECK(parse(bare)->outputs[0].best_evidence() == Evidence::metadata);
}

TEST_CASE("other sample sets are another scope", "[megatron]") {
  const auto other = replaced(replaced(k_sampled, "[0,3,6,9]", "[0,4,9]"), "\"captured_numel\":4", "\"captured_numel\":3");
  CHECK(match(parse(k_sampled)->outputs[0], parse(other)->outputs[0]).outcome ==
        FingerprintMatch::Outcome::not_comparable);
}

TEST_CASE("scalars and events are told apart", "[megatron]") {
  CHECK(parse(k_event)->kind == RecordKind::event);
  const auto scalar = replaced(k_event, R"({"num_microbatches":2})", R"({"value":1.50})");
  CHECK(parse(scalar)->kind == RecordKind::scalar);
  CHECK(parse(scalar)->outputs.at(0).value == "1.5");
  const auto infinite = replaced(k_event, R"({"num_microbatches":2})",
                                 R"({"finite":false,"nonfinite":"+inf","value":null})");
  CHECK(parse(infinite)->outputs.at(0).value == "inf");
  const auto flag = replaced(k_event, R"({"num_microbatches":2})", R"({"value":true})");
  CHECK(parse(flag)->kind == RecordKind::event);
}

TEST_CASE("what the format's own reader refuses is refused", "[megatron]") {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"\"iteration\":3", "\"iteration\":true"},
      {"\"iteration\":3", "\"iteration\":-1"},
      {"\"iteration\":3", "\"iteration\":1.0"},
      {"\"iteration\":3", "\"iteration\":99999999999999999999"},
      {"\"iteration\":3,", ""},
      {"\"microbatch\":1", "\"microbatch\":\"1\""},
      {"\"occurrence\":0", "\"occurrence\":-1"},
      {"\"rank\":0", "\"rank\":4294967296"},
      {"\"sequence\":7", "\"sequence\":null"},
      {"\"event\":\"tensor\"", "\"event\":\"scalar\""},
      {"\"name\":\"decoder.fc1.weight.grad\"", "\"name\":\"\""},
      {"\"name\":\"decoder.fc1.weight.grad\"", "\"name\":\"a\\nb\""},
      {"\"name\":\"decoder.fc1.weight.grad\"", "\"name\":\"" + std::string(513, 'x') + "\""},
      {"\"numel\":8", "\"numel\":9"},
      {"\"shape\":[2,4]", "\"shape\":[2,-4]"},
      {"\"shape\":[2,4]", "\"shape\":[4611686018427387904,4611686018427387904]"},
      {"\"stride\":[4,1]", "\"stride\":[4]"},
      {"\"exact_value_certificate\":true", "\"exact_value_certificate\":false"},
      {"\"value_observed\":true", "\"value_observed\":false"},
      {"\"captured_numel\":8", "\"captured_numel\":7"},
      {"\"mode\":\"full\"", "\"mode\":\"metadata\""},
      {"\"mode\":\"full\"", "\"mode\":\"other\""},
      {"a9ad56f2", "a9ad56g2"},
      {"a9ad56f2", "a9ad56f"},
      {"\"metadata\":{\"layer\":0}", "\"metadata\":null"},
      {"\"all_finite\":true,", ""},
  };
  for (const auto& [what, with] : wrong) {
    CAPTURE(what, with);
    auto record = parse(replaced(k_tensor, what, with));
    REQUIRE_FALSE(record);
    CHECK(record.error().code == Errc::damaged);
    CHECK_FALSE(record.error().message.empty());
  }
  CHECK_FALSE(parse(replaced(k_sampled, "[0,3,6,9]", "[0,3,7,9]")));
  CHECK_FALSE(parse(replaced(k_summary, "\"mean\":-1e-3", "\"mean\":\"x\"")));
  auto version = parse(replaced(k_tensor, "\"schema_version\":1", "\"schema_version\":2"));
  REQUIRE_FALSE(version);
  CHECK(version.error().code == Errc::unsupported);
}

TEST_CASE("metadata, layout and unknown keys are content", "[megatron]") {
  const auto differs = [](const std::string& what, const std::string& with) {
    Record a = *parse(k_tensor);
    Record b = *parse(replaced(k_tensor, what, with));
    seal(a);
    seal(b);
    EvidenceCounts counts;
    return compare_records(a, b, counts).outcome;
  };
  CHECK(differs("\"layer\":0", "\"layer\":1") == RecordMatch::Outcome::value);
  CHECK(differs("\"layer\":0", "\"layer\":0.0") == RecordMatch::Outcome::equal);
  CHECK(differs("\"stride\":[4,1]", "\"stride\":[1,2]") == RecordMatch::Outcome::shape);
  CHECK(differs("\"requires_grad\":false", "\"requires_grad\":true") == RecordMatch::Outcome::dtype);
  CHECK(differs("\"sequence\":7", "\"new_key\":[1],\"sequence\":7") == RecordMatch::Outcome::value);
  CHECK(differs("\"sequence\":7", "\"sequence\":9") == RecordMatch::Outcome::equal);
}
