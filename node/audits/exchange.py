"""One audit from its request to its openings; the member's clock runs from the second call to the third."""

from node.model import AuditKey
from node.ports import Auditee, AuditQuestion, OracleAudits
from swarm_chain.core.audits import AuditAnswer, AuditRequest, answer_hash, request_hash
from swarm_chain.core.units import Address, Hash32
from swarm_chain.ports import Signer


def run_audit(key: AuditKey, member: OracleAudits, auditee: Auditee, signer: Signer, domain: Hash32) -> None:
    """Has a device audited by a member. Can be done again: the member asks the same, though its clock runs on.

    Args:
        key: window, device and category.
        member: who audits.
        auditee: what the claim is about.
        signer: the node's key.
        domain: EIP-712 domain of node messages.

    Raises:
        SwarmError: the member is away, or refuses.
    """
    request = _request(key, auditee.claim(member.address()), signer.address, member.address())
    if not request.claim:
        return
    begun = member.begin(request, signer.sign_typed(domain, request_hash(request)))
    question = AuditQuestion(
        audit_id=begun.audit_id,
        member=request.member,
        device=request.device,
        claim=request.claim,
        nonce=begun.nonce,
    )
    answer = AuditAnswer(audit_id=begun.audit_id, root=auditee.answer(question))
    draw = member.answer(answer, signer.sign_typed(domain, answer_hash(answer)))
    openings = auditee.openings(question, draw)
    if openings:
        member.open(begun.audit_id, openings)


def _request(key: AuditKey, claim: int, node: Address, member: Address) -> AuditRequest:
    return AuditRequest(
        window_id=key.window_id, node=node, device=key.device, category=key.category, claim=claim, member=member
    )
