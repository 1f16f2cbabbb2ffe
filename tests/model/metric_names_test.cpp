#include "model/metric_names.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

using detdiff::metric_info;
using Phase = detdiff::MetricInfo::Phase;

namespace {

void check_phase(Phase phase, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    INFO(name);
    CHECK(metric_info(name).phase == phase);
    CHECK_FALSE(metric_info(name).environment);
  }
}

}  // namespace

TEST_CASE("metrics of the forward pass", "[metric_names]") {
  check_phase(Phase::forward, {"lm loss",
                               "mtp_1 loss",
                               "loss",
                               "total loss",
                               "validation loss",
                               "lm loss validation",
                               "lm loss validation ppl",
                               "load_balancing_loss",
                               "seq_load_balancing_loss",
                               "kd loss",
                               "train/loss",
                               "eval_loss",
                               "train_loss",
                               "reduced_train_loss",
                               "loss_metrics/global_avg_loss",
                               "Step Loss",
                               "z_loss",
                               "max attention logit",
                               "val_perplexity",
                               "lm loss vs samples"});
}

TEST_CASE("metrics of the backward pass", "[metric_names]") {
  check_phase(Phase::backward,
              {"grad norm", "grad-norm", "grad_norm", "Grad Norm", "train/grad_norm", "num-zeros",
               "num zeros", "num_zeros_in_grad", "gradient norm", "gnorm", "grad-norm vs samples"});
}

TEST_CASE("metrics of the optimizer", "[metric_names]") {
  check_phase(Phase::optimizer,
              {"params norm", "params-norm", "param_norm", "learning rate", "learning-rate",
               "learning_rate", "decoupled-learning-rate", "lr", "lr-Adam", "loss scale",
               "loss-scale", "grad scale", "number of skipped iterations"});
}

TEST_CASE("metrics without a known place are compared", "[metric_names]") {
  check_phase(Phase::unknown,
              {"batch-size", "consumed samples", "epoch", "world-size", "num tokens", "", " ", "-",
               "x", "losses2", "gradual", "timestep", "total_flos", "dt_bias", "second moment",
               "memo", "sampling temperature"});
}

TEST_CASE("metrics of the machine are never compared", "[metric_names]") {
  for (const std::string name : {"mem-allocated-bytes",
                                 "mem-max-allocated-bytes",
                                 "mem-allocated-count",
                                 "mem-reserved-bytes",
                                 "iteration-time",
                                 "forward-backward-time",
                                 "all-grads-sync-time",
                                 "optimizer-time",
                                 "optimizer-unscale-and-check-inf-time",
                                 "optimizer-count-zeros-time",
                                 "elapsed time per iteration (ms)",
                                 "elapsed",
                                 "throughput",
                                 "throughput per GPU (TFLOP/s/GPU)",
                                 "throughput(tps)",
                                 "tflops",
                                 "TFLOPs",
                                 "tokens-per-sec",
                                 "tokens_per_second",
                                 "train_samples_per_second",
                                 "train_runtime",
                                 "step_time",
                                 "train_step_timing in s",
                                 "time_metrics/end_to_end(s)",
                                 "time_metrics/data_loading(%)",
                                 "memory/max_active(GiB)",
                                 "memory/num_ooms",
                                 "mfu(%)",
                                 "it/s",
                                 "s/it",
                                 "tokens/s",
                                 "tok/s",
                                 "gpu_util",
                                 "v_num",
                                 "iteration-time vs samples"}) {
    INFO(name);
    CHECK(metric_info(name).environment);
    CHECK(metric_info(name).phase == Phase::unknown);
  }
}

TEST_CASE("copies over another axis are told", "[metric_names]") {
  CHECK(metric_info("lm loss vs samples").other_axis);
  CHECK(metric_info("grad-norm vs samples").other_axis);
  CHECK_FALSE(metric_info("lm loss").other_axis);
  CHECK_FALSE(metric_info("samples vs steps").other_axis);
  CHECK_FALSE(metric_info("vs samples loss").other_axis);
}

TEST_CASE("phases are spelt as sites spell them", "[metric_names]") {
  CHECK(to_string(Phase::forward) == "forward");
  CHECK(to_string(Phase::backward) == "backward");
  CHECK(to_string(Phase::optimizer) == "optimizer");
  CHECK(to_string(Phase::unknown).empty());
  CHECK(Phase::forward < Phase::backward);
  CHECK(Phase::backward < Phase::optimizer);
  CHECK(Phase::optimizer < Phase::unknown);
}
