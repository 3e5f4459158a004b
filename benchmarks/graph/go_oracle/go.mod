module satchel/benchmarks/graph/go_oracle

go 1.21
