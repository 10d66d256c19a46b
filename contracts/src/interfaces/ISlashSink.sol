// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title Where slashed stake and penalties go: burn, bounty, insurance
interface ISlashSink {
    event Deposited(
        bytes32 indexed caseId,
        uint256 amount,
        uint256 burned,
        uint256 bounty,
        uint256 insured,
        address indexed reporter
    );
    event BountyClaimed(address indexed reporter, uint256 amount);
    event InsurancePaid(address indexed to, uint256 amount);

    error BountyTooHigh(uint256 bps, uint256 maxBps);
    error NothingToClaim(address reporter);
    error InsufficientInsurance(uint256 have, uint256 want);
    error ZeroAddress();
    /// @notice The sink holds fewer wei than its accounts and the deposit need.
    error NotReceived(uint256 have, uint256 want);

    /// @notice Splits `amount` wei that the vault just sent: half burned (rounded up), `bountyBps` of it to `reporter` (at most 3000),
    ///         the rest to insurance. Only the vault.
    function deposit(bytes32 caseId, uint256 amount, address reporter, uint256 bountyBps) external;

    /// @notice Pays a reporter's accrued bounties.
    function claimBounty(address reporter) external returns (uint256 amount);

    /// @notice Pays customers from insurance. Only the timelock.
    function distribute(address to, uint256 amount) external;

    function bountyOf(address reporter) external view returns (uint256);
    function insurance() external view returns (uint256);
}
