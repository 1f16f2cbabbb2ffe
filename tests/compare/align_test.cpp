#include "compare/align.hpp"

#include <algorithm>
#include <random>

#include "support/catch.hpp"

using namespace detdiff;
using namespace detdiff::compare;

namespace {

std::vector<Entry> entries(const std::vector<std::pair<int, int>>& tokens_and_values) {
  std::vector<Entry> list;
  for (const auto& [token, value] : tokens_and_values) {
    Entry entry;
    entry.identity = entry.token = static_cast<std::uint64_t>(token);
    entry.value = static_cast<std::uint64_t>(value);
    entry.position.byte = list.size();
    list.push_back(entry);
  }
  return list;
}

std::size_t longest_common(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      table[i][j] = std::max(table[i + 1][j], table[i][j + 1]);
      if (a[i].token == b[j].token) table[i][j] = std::max(table[i][j], table[i + 1][j + 1] + 1);
    }
  }
  return table[0][0];
}

// Every index once, in order; returns the number of pairs with equal tokens.
std::size_t check(const std::vector<Entry>& a, const std::vector<Entry>& b, const std::vector<Step>& steps) {
  std::size_t i = 0;
  std::size_t j = 0;
  std::size_t pairs = 0;
  for (const Step& step : steps) {
    if (step.a != Step::none) CHECK(step.a == i++);
    if (step.b != Step::none) CHECK(step.b == j++);
    if (step.a != Step::none && step.b != Step::none && a[step.a].token == b[step.b].token) ++pairs;
    if (step.moved()) CHECK(steps[step.twin].twin == static_cast<std::size_t>(&step - steps.data()));
  }
  CHECK(i == a.size());
  CHECK(j == b.size());
  return pairs;
}

}  // namespace

TEST_CASE("an alignment is a longest common subsequence and mirrors", "[align]") {
  std::mt19937 random(20261201);
  for (int round = 0; round < 300; ++round) {
    const auto make = [&random] {
      std::vector<std::pair<int, int>> list(random() % 12);
      for (auto& [token, value] : list) {
        token = static_cast<int>(random() % 4);
        value = static_cast<int>(random() % 3);
      }
      return entries(list);
    };
    const auto a = make();
    const auto b = make();
    const auto steps = align(a, b);
    const auto back = align(b, a);
    CHECK(check(a, b, steps) >= longest_common(a, b));
    check(b, a, back);
    const auto pairs = [](const std::vector<Step>& list) {
      return std::count_if(list.begin(), list.end(), [](const Step& step) {
        return step.a != Step::none && step.b != Step::none;
      });
    };
    CHECK(pairs(steps) == pairs(back));
  }
}

TEST_CASE("equal values decide which of alike records is the extra one", "[align]") {
  const auto a = entries({{1, 10}, {1, 11}, {2, 20}});
  const auto b = entries({{1, 99}, {1, 10}, {1, 11}, {2, 20}});
  const auto steps = align(a, b);
  REQUIRE(steps.size() == 4);
  CHECK(steps[0].a == Step::none);
  CHECK(steps[0].b == 0);
}

TEST_CASE("a wide iteration with one extra record and other values aligns exactly", "[align]") {
  std::vector<std::pair<int, int>> left;
  std::vector<std::pair<int, int>> right;
  for (int i = 0; i < 20000; ++i) {
    left.emplace_back(i % 701, i);
    if (i == 10000) right.emplace_back(9999, 1);
    right.emplace_back(i % 701, i < 10000 ? i : -i);
  }
  const auto a = entries(left);
  const auto b = entries(right);
  CHECK(check(a, b, align(a, b)) == left.size());
}

TEST_CASE("two wide differences take the greedy search", "[align]") {
  std::vector<std::pair<int, int>> left;
  std::vector<std::pair<int, int>> right;
  for (int i = 0; i < 9000; ++i) {
    left.emplace_back(i % 701, i);
    if (i == 10 || i == 8990) right.emplace_back(9999, 1);
    right.emplace_back(i % 701, -i - 1);
  }
  left.emplace_back(5000, 0);
  right.emplace_back(6000, 0);
  const auto a = entries(left);
  const auto b = entries(right);
  CHECK(check(a, b, align(a, b)) == 9000);
}

TEST_CASE("beyond the greedy search, unique records anchor", "[align]") {
  std::vector<std::pair<int, int>> left;
  std::vector<std::pair<int, int>> right;
  for (int i = 0; i < 6000; ++i) {
    left.emplace_back(i, 0);
    if (i % 3 != 0) right.emplace_back(i, 1);
    else right.emplace_back(100000 + i, 1);
  }
  const auto a = entries(left);
  const auto b = entries(right);
  CHECK(check(a, b, align(a, b)) == 4000);
}
