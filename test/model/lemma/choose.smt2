; The rule of PROTOCOL §6.3 in first-order logic, for any number of replicas and any tree of blocks.
; One of fast.smt2 and slow.smt2 follows: it adds what is known when a block is final, denies the
; claim, and asks for a world in which all of this is true. "unsat" means that there is none.

(set-option :timeout 120000)

; --- Blocks form a tree: ancestry is an order in which the ancestors of a block are one chain. ---
(declare-sort Block 0)
(declare-fun ancestor (Block Block) Bool) ; reflexive
(declare-fun height (Block) Int)
(assert (forall ((a Block)) (ancestor a a)))
(assert (forall ((a Block) (b Block) (c Block))
  (=> (and (ancestor a b) (ancestor b c)) (ancestor a c))))
(assert (forall ((a Block) (b Block) (c Block))
  (=> (and (ancestor a c) (ancestor b c)) (or (ancestor a b) (ancestor b a)))))
(assert (forall ((a Block) (b Block))
  (=> (ancestor a b) (<= (height a) (height b)))))
(assert (forall ((a Block) (b Block))
  (=> (and (ancestor a b) (= (height a) (height b))) (= a b))))

; --- The reports: 2f+1 of them, S, of which at most f come from Byzantine replicas. ---
(declare-sort Replica 0)
(declare-fun reports (Replica) Bool)      ; the replica's ViewChange is in S
(declare-fun correct (Replica) Bool)
(declare-fun votedView (Replica) Int)
(declare-fun votedTip (Replica) Block)

; --- Step 1: the highest certificate of S. ---
(declare-const certified Block)
(declare-const certifiedView Int)

; --- Step 2: whose votes count. ---
(define-fun eligible ((r Replica)) Bool
  (or (> (votedView r) certifiedView)
      (and (= (votedView r) certifiedView) (ancestor certified (votedTip r)))))
(define-fun supports ((r Replica) (b Block)) Bool
  (and (reports r) (eligible r) (ancestor b (votedTip r))))

; --- Step 3: a block is supported when f+1 reports support it. Counting enters only by these. ---
(declare-fun supported (Block) Bool)
; f+1 replicas include a correct one.
(assert (forall ((b Block)) (=> (supported b)
  (exists ((r Replica)) (and (correct r) (supports r b))))))
; 2f+1 reports include f+1 correct ones.
(assert (forall ((b Block)) (=>
  (forall ((r Replica)) (=> (and (correct r) (reports r)) (supports r b))) (supported b))))
; Two sets of f+1 among 2f+1 meet.
(assert (forall ((b Block) (c Block)) (=> (and (supported b) (supported c))
  (exists ((r Replica)) (and (supports r b) (supports r c))))))

(declare-const hasSupported Bool)
(declare-const highest Block)
(assert (=> hasSupported (and (supported highest)
  (forall ((c Block)) (=> (supported c) (<= (height c) (height highest)))))))
(assert (=> (not hasSupported) (forall ((c Block)) (not (supported c)))))

; --- Step 4: the base of the new view. ---
(define-fun base () Block
  (ite (and hasSupported (not (ancestor highest certified))) highest certified))

; --- A block became final in an earlier view. The claim is that the base descends from it. ---
(declare-const final Block)
(declare-const finalView Int)
; By induction, certificates of the views between descend from it.
(assert (=> (> certifiedView finalView) (ancestor final certified)))
