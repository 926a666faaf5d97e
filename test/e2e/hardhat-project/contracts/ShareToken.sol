// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Pausable} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Pausable.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

/// A token with roles, a switch and approvals by signature.
contract ShareToken is ERC20, ERC20Pausable, ERC20Permit, AccessControl {
    bytes32 public constant ISSUER = keccak256("ISSUER");

    constructor(address admin) ERC20("Share", "SHR") ERC20Permit("Share") {
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
    }

    function issue(address to, uint256 amount) external onlyRole(ISSUER) {
        _mint(to, amount);
    }

    function pause() external onlyRole(DEFAULT_ADMIN_ROLE) {
        _pause();
    }

    function _update(address from, address to, uint256 value)
        internal
        override(ERC20, ERC20Pausable)
    {
        super._update(from, to, value);
    }
}
