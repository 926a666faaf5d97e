// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// Who may do what on this network. It is part of genesis, at a fixed address, and the nodes read
/// its storage directly: the layout below is part of the chain's rules (docs/permissions.md).
///
/// Rights are kept for a sender and a target; the zero address stands for "any". What a sender may
/// do at a target is the union of four entries: its own for this target, its own for any target,
/// anyone's for this target, anyone's for any target. There are no denials.
contract Permissions {
    uint8 public constant READ = 1;
    uint8 public constant WRITE = 2;
    /// Creates contracts by transactions. It has no target.
    uint8 public constant DEPLOY = 4;
    /// Changes rights, and includes all other actions: an admin cannot lock itself out. It belongs
    /// to one sender and has no target.
    uint8 public constant ADMIN = 8;

    uint8 private constant ALL = READ | WRITE | DEPLOY | ADMIN;
    address private constant ANY = address(0);

    struct Entry {
        uint8 rights;
        /// Where the entry stands in `_listed`, counted from 1; 0 when it holds no right.
        uint248 place;
    }

    struct Pair {
        address from;
        address to;
    }

    struct Permission {
        address from;
        address to;
        uint8 rights;
    }

    /// Slot 0.
    uint256 public adminCount;
    /// Slot 1.
    mapping(address from => mapping(address to => Entry entry)) private _entries;
    /// Slot 2. All entries that hold a right, so that they can be listed without searching logs.
    Pair[] private _listed;

    event PermissionsUpdated(
        address indexed from,
        address indexed to,
        address indexed admin,
        uint8 previous,
        uint8 current
    );

    error NotAdmin(address caller);
    /// The action is unknown, or means nothing for this sender and target.
    error ActionNotGrantable(address from, address to, uint8 action);
    error LastAdmin();

    modifier onlyAdmin() {
        if (_entries[msg.sender][ANY].rights & ADMIN == 0) revert NotAdmin(msg.sender);
        _;
    }

    /// Whether the sender may do all of these actions at the target. No action and unknown ones
    /// are never allowed.
    function checkUserAction(address from, address to, uint8 action) external view returns (bool) {
        return action != 0 && action & ~effectivePermissions(from, to) == 0;
    }

    /// What the sender may do at the target, all entries taken together.
    function effectivePermissions(address from, address to) public view returns (uint8) {
        uint8 own = _entries[from][ANY].rights;
        if (own & ADMIN != 0) return ALL;
        uint8 anyones = _entries[ANY][to].rights | _entries[ANY][ANY].rights;
        return own | _entries[from][to].rights | anyones;
    }

    /// The rights of this one entry.
    function permissionsOf(address from, address to) external view returns (uint8) {
        return _entries[from][to].rights;
    }

    /// Sets the rights of the entry to exactly `action`; 0 takes all of them away.
    function updatePermissions(address from, address to, uint8 action) external onlyAdmin {
        _set(from, to, action);
    }

    /// Adds rights to the entry and leaves the others: two admins do not undo each other's work.
    function grantPermissions(address from, address to, uint8 action) external onlyAdmin {
        _set(from, to, _entries[from][to].rights | action);
    }

    /// Takes rights from the entry and leaves the others.
    function revokePermissions(address from, address to, uint8 action) external onlyAdmin {
        _set(from, to, _entries[from][to].rights & ~action);
    }

    /// How many entries hold a right.
    function permissionCount() external view returns (uint256) {
        return _listed.length;
    }

    /// At most `limit` entries that hold a right, from `offset` on. A change may move entries:
    /// whoever reads in several calls asks all of them at one block.
    function listPermissions(
        uint256 offset,
        uint256 limit
    ) external view returns (Permission[] memory permissions) {
        uint256 count = _listed.length > offset ? _listed.length - offset : 0;
        if (count > limit) count = limit;
        permissions = new Permission[](count);
        for (uint256 index = 0; index < count; index++) {
            Pair memory pair = _listed[offset + index];
            uint8 rights = _entries[pair.from][pair.to].rights;
            permissions[index] = Permission(pair.from, pair.to, rights);
        }
    }

    function _set(address from, address to, uint8 rights) private {
        if (rights & ~_grantable(from, to) != 0) revert ActionNotGrantable(from, to, rights);
        Entry storage entry = _entries[from][to];
        uint8 previous = entry.rights;
        if (rights == previous) return;
        if (rights & ADMIN != previous & ADMIN) {
            if (rights & ADMIN != 0) {
                adminCount++;
            } else {
                if (adminCount == 1) revert LastAdmin();
                adminCount--;
            }
        }
        entry.rights = rights;
        if (previous == 0) {
            _listed.push(Pair(from, to));
            entry.place = uint248(_listed.length);
        } else if (rights == 0) {
            _unlist(entry);
        }
        emit PermissionsUpdated(from, to, msg.sender, previous, rights);
    }

    /// The last of the list takes the place that becomes free.
    function _unlist(Entry storage entry) private {
        uint248 place = entry.place;
        Pair memory last = _listed[_listed.length - 1];
        _listed[place - 1] = last;
        _entries[last.from][last.to].place = place;
        _listed.pop();
        entry.place = 0;
    }

    function _grantable(address from, address to) private pure returns (uint8) {
        if (to != ANY) return READ | WRITE;
        return from == ANY ? READ | WRITE | DEPLOY : ALL;
    }
}
