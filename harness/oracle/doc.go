// Package oracle checks properties that hold for any operator, so that a test does not have to assert individual
// fields. Each check has its own file. Package verdict lists those that an exploration uses.
//
// The oracles evaluate the data recorded by package record. Sieve (OSDI'22) and Acto (SOSP'23) also compare final
// states. Anvil (OSDI'24) defines eventually stable reconciliation, which means that an operator reaches the desired
// state and stays there despite failures.
package oracle
