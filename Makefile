# SPDX-License-Identifier: MIT
# The front door. No logic here: every target calls a script in tools/.
.DEFAULT_GOAL := help
.NOTPARALLEL: # targets share a build folder; each builds in parallel by itself
.PHONY: help demo test build page bench bench-page bench-peers nightly clean install

help:
	@echo 'make demo             build, then see attention at work: the lesson, a real model, the speed'
	@echo 'make test             every test; the last line counts them'
	@echo 'make build            the release build; the command lies at build/qkv'
	@echo 'make page             the lesson as one offline file, dist/qkv.html'
	@echo 'make bench            this machine: peak, read rate, attention as a share of them'
	@echo 'make bench-page       how fast the page reacts, beside a calibration loop of its own'
	@echo 'make bench-peers      other libraries beside this one; writes docs/performance.md'
	@echo 'make nightly          the long tests: fresh seeds, live fuzzing, mutants'
	@echo 'make install PREFIX=  install under PREFIX (default /usr/local)'
	@echo 'make clean            remove the build folders'

demo:
	@tools/demo

test:
	@tools/test

build:
	@tools/build

page:
	@tools/page

bench:
	@tools/bench

bench-page:
	@tools/bench-page

bench-peers:
	@tools/bench-peers

nightly:
	@tools/nightly

install:
	@tools/install '$(PREFIX)'

clean:
	@rm -rf build build-test
