#include <string>

#include "compare/comparison.hpp"
#include "support/catch.hpp"
#include "support/check_comparison.hpp"
#include "support/make_run.hpp"

using namespace detdiff;
using namespace detdiff::compare;
using detdiff::test::compare_both_ways;
using detdiff::test::make_run;

namespace {

const std::string k_two_iterations =
    "1 forward fc1 01\n1 forward fc2 02\n1 backward fc2.weight.grad 03\n"
    "2 forward fc1 11\n2 forward fc2 12\n2 backward fc2.weight.grad 13\n";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

}  // namespace

TEST_CASE("equal runs are same and everything was compared", "[compare]") {
  const auto result = compare_both_ways(*make_run({k_two_iterations}), *make_run({k_two_iterations}));
  CHECK(result.verdict == Verdict::same);
  CHECK(result.records_compared == 6);
  CHECK(result.weakest == Evidence::strong);
  CHECK(result.compared->count == 2);
}

TEST_CASE("the first divergence is the first in the order of execution, not of names", "[compare]") {
  const auto result = compare_both_ways(*make_run({"1 forward z_first 01\n1 forward a_later 02\n"}),
                                        *make_run({"1 forward z_first 09\n1 forward a_later 08\n"}));
  REQUIRE(result.first() != nullptr);
  CHECK(result.first()->record().site.name == "z_first");
}

TEST_CASE("a value divergence after matching records is an origin with its last match", "[compare]") {
  const auto result =
      compare_both_ways(*make_run({k_two_iterations}),
                        *make_run({replaced(k_two_iterations, "2 forward fc2 12", "2 forward fc2 99")}));
  REQUIRE(result.first() != nullptr);
  CHECK(result.first()->kind == Kind::value);
  CHECK(result.first()->cls == Class::origin);
  CHECK(result.first()->record().site.iteration == 2);
  REQUIRE(result.first()->last_match);
  CHECK(result.first()->last_match->site.name == "fc1");
  CHECK(result.ranks[0].iterations_equal == 1);
}

TEST_CASE("a record missing on one side is not a divergence of the next one", "[compare]") {
  const auto result =
      compare_both_ways(*make_run({k_two_iterations}),
                        *make_run({replaced(k_two_iterations, "1 forward fc2 02\n", "")}));
  REQUIRE(result.first() != nullptr);
  CHECK(result.first()->kind == Kind::missing_in_b);
  CHECK(result.first()->cls == Class::control_flow);
  CHECK(result.first()->record().site.name == "fc2");
  CHECK(result.ranks[0].finding_count == 1);
  CHECK(result.ranks[0].records_compared == 5);
}

TEST_CASE("a divergence behind a missing record is still found", "[compare]") {
  auto b = replaced(k_two_iterations, "1 forward fc1 01\n", "");
  b = replaced(b, "2 forward fc2 12", "2 forward fc2 77");
  const auto result = compare_both_ways(*make_run({k_two_iterations}), *make_run({b}));
  REQUIRE(result.ranks[0].findings.size() == 2);
  CHECK(result.ranks[0].findings[0].kind == Kind::missing_in_b);
  CHECK(result.ranks[0].findings[1].kind == Kind::value);
  CHECK(result.ranks[0].findings[1].record().site.name == "fc2");
}

TEST_CASE("of equal calls the extra one is found by its value", "[compare]") {
  const auto result = compare_both_ways(
      *make_run({"1 f norm 0a\n1 f norm 0b occ=1\n1 f out 0c\n"}),
      *make_run({"1 f norm 99\n1 f norm 0a occ=1\n1 f norm 0b occ=2\n1 f out 0c\n"}));
  REQUIRE(result.ranks[0].finding_count == 1);
  CHECK(result.first()->kind == Kind::missing_in_a);
  CHECK(result.first()->record().outputs[0].digests[0].hex() == "0000000000000099");
}

TEST_CASE("two records that changed places are one order divergence", "[compare]") {
  const auto result = compare_both_ways(*make_run({"1 f x 01\n1 f y 02\n1 f z 03\n"}),
                                        *make_run({"1 f y 02\n1 f x 01\n1 f z 03\n"}));
  REQUIRE(result.first() != nullptr);
  CHECK(result.first()->kind == Kind::order);
  CHECK(result.first()->cls == Class::control_flow);
  CHECK(result.ranks[0].finding_count == 1);
}

TEST_CASE("dtype and shape are named before values", "[compare]") {
  const auto dtype = compare_both_ways(*make_run({"1 f x 01\n"}), *make_run({"1 f x 02 dtype=bfloat16\n"}));
  CHECK(dtype.first()->kind == Kind::dtype);
  const auto shape = compare_both_ways(*make_run({"1 f x 01\n"}), *make_run({"1 f x 02 dim=8\n"}));
  CHECK(shape.first()->kind == Kind::shape);
}

TEST_CASE("metadata alone is never same, but may differ", "[compare]") {
  const auto equal = compare_both_ways(*make_run({"1 f x -\n"}), *make_run({"1 f x -\n"}));
  CHECK(equal.verdict == Verdict::inconclusive);
  CHECK(equal.weakest == Evidence::metadata);
  const auto one_sided = compare_both_ways(*make_run({"1 f x -\n"}), *make_run({"1 f x 01\n"}));
  CHECK(one_sided.verdict == Verdict::inconclusive);
}

TEST_CASE("a required evidence that is not reached makes it inconclusive", "[compare]") {
  Options options;
  options.require = Evidence::strong;
  const auto run = "1 train loss - scalar=0.5\n";
  CHECK(compare_both_ways(*make_run({run}), *make_run({run}), options).verdict == Verdict::same);
  const auto bare = "1 train loss - scalar=0.5\n1 f x -\n";
  CHECK(compare_both_ways(*make_run({bare}), *make_run({bare}), options).verdict ==
        Verdict::inconclusive);
}

TEST_CASE("a resumed run is compared where both recorded", "[compare][resume]") {
  const auto resumed = k_two_iterations.substr(k_two_iterations.find("2 forward"));
  const auto result = compare_both_ways(*make_run({k_two_iterations}), *make_run({resumed}));
  CHECK(result.verdict == Verdict::same);
  CHECK(result.resumed == 'b');
  CHECK(result.compared->first == 2);
  CHECK(result.left_out == 3);

  Options off;
  off.resume = Resume::off;
  const auto whole = compare_both_ways(*make_run({k_two_iterations}), *make_run({resumed}), off);
  REQUIRE(whole.first() != nullptr);
  CHECK(whole.first()->kind == Kind::missing_in_b);
}

TEST_CASE("restore defects are named at the first resumed iteration only", "[compare][resume]") {
  const std::string fresh = "1 start w.weight 01\n1 forward tokens 02\n1 forward drop.dropout 03\n"
                            "1 backward w.weight.grad 04\n1 optimizer w.weight 05\n"
                            "2 start w.weight 05\n2 forward tokens 06\n2 forward drop.dropout 07\n"
                            "2 backward w.weight.grad 08\n2 optimizer w.weight 09\n"
                            "3 start w.weight 09\n3 forward tokens 0a\n3 forward drop.dropout 0b\n"
                            "3 backward w.weight.grad 0c\n3 optimizer w.weight 0d\n";
  const auto resumed = fresh.substr(fresh.find("2 start"));
  const auto first_of = [&fresh](const std::string& b) {
    auto result = compare_both_ways(*make_run({fresh}), *make_run({b}));
    REQUIRE(result.first() != nullptr);
    return *result.first();
  };
  CHECK(first_of(replaced(resumed, "2 start w.weight 05", "2 start w.weight ff")).restore ==
        Restore::parameters);
  CHECK(first_of(replaced(resumed, "2 forward tokens 06", "2 forward tokens ff")).restore ==
        Restore::data);
  CHECK(first_of(replaced(resumed, "dropout 07", "dropout ff")).restore == Restore::rng);
  CHECK(first_of(replaced(resumed, "2 optimizer w.weight 09", "2 optimizer w.weight ff")).restore ==
        Restore::optimizer);
  CHECK(first_of(replaced(resumed, "2 backward w.weight.grad 08", "2 backward w.weight.grad ff")).cls ==
        Class::origin);
  CHECK(first_of(replaced(resumed, "dropout 0b", "dropout ff")).cls == Class::origin);
}

TEST_CASE("a restart that appended counts from its last recording", "[compare][resume]") {
  const std::string fresh = "1 f x 01\n2 f x 02\n3 f x 03\n4 f x 04\n";
  const std::string crashed = "1 f x 01\n2 f x 02\n3 f x ff\n2 f x 02 occ=1\n3 f x 03 occ=1\n4 f x 04\n";
  const auto result = compare_both_ways(*make_run({fresh}), *make_run({crashed}));
  CHECK(result.verdict == Verdict::same);
  REQUIRE(result.ranks[0].b.segments.size() == 2);
  CHECK(result.ranks[0].b.segments[1].first == 2);
  CHECK(result.ranks[0].b.repeated == std::vector<std::int64_t>{2, 3});

  const auto wrong = replaced(crashed, "3 f x 03 occ=1", "3 f x 99 occ=1");
  const auto differs = compare_both_ways(*make_run({fresh}), *make_run({wrong}));
  REQUIRE(differs.first() != nullptr);
  CHECK(differs.first()->record().site.iteration == 3);
}

TEST_CASE("a constant iteration offset is found, said and may be given", "[compare][resume]") {
  const std::string a = "0 f x 01\n0 f y 02\n1 f x 03\n1 f y 04\n2 f x 05\n2 f y 06\n";
  const std::string b = "1 f x 01\n1 f y 02\n2 f x 03\n2 f y 04\n3 f x 05\n3 f y 99\n";
  const auto found = compare_both_ways(*make_run({a}), *make_run({b}));
  CHECK(found.offset == 1);
  CHECK(found.offset_found);
  REQUIRE(found.first() != nullptr);
  CHECK(found.first()->record().site.iteration == 2);
  CHECK(found.first()->record().site.name == "y");
  Options options;
  options.iteration_offset = 1;
  const auto given = compare_both_ways(*make_run({a}), *make_run({b}), options);
  CHECK_FALSE(given.offset_found);
  CHECK(given.records_compared == found.records_compared);
}

TEST_CASE("a member that entered a collective unequally makes the others receivers", "[compare]") {
  auto record = [](const std::string& operation, const std::string& tensor, const std::string& digest) {
    Record one = test::make_record("1 sync name " + digest);
    one.site.module.clear();
    one.site.operation = operation;
    one.site.tensor = tensor;
    one.site.name = operation + "." + tensor;
    return one;
  };
  const auto run = [&record](std::vector<std::string> inputs, const std::string& output) {
    RunInfo info;
    std::vector<std::vector<Record>> ranks;
    for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
      info.ranks.push_back({static_cast<std::uint32_t>(rank), "memory", 0, 0, 0, {}});
      auto& records = ranks.emplace_back();
      records.push_back(record("allreduce", "bucket0.input", inputs[rank]));
      records.push_back(record("allreduce", "bucket0.output", output));
      for (std::size_t i = 0; i < records.size(); ++i) {
        records[i].site.rank = static_cast<std::uint32_t>(rank);
        records[i].position = {i + 1, i};
        seal(records[i]);
      }
    }
    return std::make_unique<formats::MemoryRun>(std::move(info), std::move(ranks));
  };
  const auto received = compare_both_ways(*run({"01", "02"}, "03"), *run({"01", "09"}, "08"));
  CHECK(received.ranks[0].findings.front().cls == Class::receiver);
  const auto born = compare_both_ways(*run({"01", "02"}, "03"), *run({"01", "02"}, "08"));
  CHECK(born.first()->cls == Class::origin);
  CHECK(born.lead == 0u);
}

TEST_CASE("calls are origin, receiver or uncertain by their inputs", "[compare]") {
  const auto cls = [](const std::string& a, const std::string& b) {
    return compare_both_ways(*make_run({a}), *make_run({b})).first()->cls;
  };
  CHECK(cls("1 f x 01 op=aten.mm in=05\n", "1 f x 02 op=aten.mm in=05\n") == Class::origin);
  CHECK(cls("1 f x 01 op=aten.mm in=05\n", "1 f x 02 op=aten.mm in=06\n") == Class::receiver);
  CHECK(cls("1 f x 01 op=aten.mm\n", "1 f x 02 op=aten.mm\n") == Class::uncertain);
  CHECK(cls("1 f x 01 op=aten.view.default in=05\n", "1 f x 02 op=aten.view.default in=05\n") ==
        Class::view);
}

TEST_CASE("a rank that only one run has is coverage, not divergence", "[compare]") {
  const auto result = compare_both_ways(*make_run({k_two_iterations, k_two_iterations}),
                                        *make_run({k_two_iterations}));
  CHECK(result.verdict == Verdict::inconclusive);
  CHECK(result.ranks[0].verdict == Verdict::same);
  CHECK(result.ranks_compared == 1);
}

TEST_CASE("filters leave out ranks, iterations, phases and names", "[compare]") {
  const auto b = replaced(k_two_iterations, "2 forward fc2 12", "2 forward fc2 99");
  const auto verdict = [&b](const Filter& filter) {
    Options options;
    options.filter = filter;
    return compare_both_ways(*make_run({k_two_iterations}), *make_run({b}), options).verdict;
  };
  Filter filter;
  filter.only.iterations = {{1, 1}};
  CHECK(verdict(filter) == Verdict::same);
  filter = {};
  filter.skip.names = {"fc2"};
  CHECK(verdict(filter) == Verdict::same);
  filter = {};
  filter.only.phases = {"backward"};
  CHECK(verdict(filter) == Verdict::same);
  filter = {};
  filter.only.names = {"fc*"};
  CHECK(verdict(filter) == Verdict::divergent);
}

TEST_CASE("nothing in common is inconclusive", "[compare]") {
  const auto result = compare_both_ways(*make_run({"1 f x 01\n"}), *make_run({"7 f y 02\n"}));
  CHECK(result.verdict == Verdict::inconclusive);
  CHECK(result.weakest == Evidence::none);
}
