#include "cli/command.hpp"

int main(int argc, char** argv) { return detdiff::cli::run_app(argc, argv); }
