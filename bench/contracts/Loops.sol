// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// Loops that each stress one part of an EVM.
contract Loops {
    mapping(uint256 => uint256) private slots;

    /// 256-bit arithmetic with a data dependency from round to round.
    function arithmetic(uint256 rounds) external pure returns (uint256 result) {
        uint256 a = 0x9e3779b97f4a7c15f39cc0605cedc8341082276bf3a27251f86c6a11d0c18e95;
        uint256 b = 0xd1310ba698dfb5ac2ffd72dbd01adfb7b8e1afed6a267e96ba7c9045f12c7f99;
        unchecked {
            for (uint256 i = 1; i <= rounds; i++) {
                a = a * b + i;
                b = (b ^ (a >> 7)) + (a / (i | 1));
                a = mulmod(a, b, type(uint256).max - 188);
                if (a % 3 == 0) b = ~b;
            }
        }
        result = a ^ b;
    }

    /// Hashes 64 bytes per round, as mappings do.
    function keccak(uint256 rounds) external pure returns (bytes32 result) {
        for (uint256 i = 0; i < rounds; i++) result = keccak256(abi.encode(result, i));
    }

    /// Per round one fresh slot written, one warm slot rewritten, one slot read back.
    function store(uint256 from, uint256 rounds) external returns (uint256 sum) {
        for (uint256 i = from; i < from + rounds; i++) {
            slots[i] = i + 1;
            slots[i] = i + 2;
            sum += slots[i];
            slots[from] = sum;
        }
    }
}
