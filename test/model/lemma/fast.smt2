; Final by all n votes: every correct replica voted for the block in that view before it reported, so
; its last vote is of that view or, by induction, of a later one, and on a chain through the block.
(assert (forall ((r Replica)) (=> (and (correct r) (reports r))
  (and (>= (votedView r) finalView) (ancestor final (votedTip r))))))
; The certificates of one view lie on one chain.
(assert (=> (= certifiedView finalView)
  (or (ancestor final certified) (ancestor certified final))))

(assert (not (ancestor final base)))
; All cases, one by one: asked all at once, the solver takes a hundred times as long.
(push) (assert (> certifiedView finalView)) (check-sat) (pop)
(push) (assert (= certifiedView finalView)) (assert (ancestor final certified)) (check-sat) (pop)
(push) (assert (= certifiedView finalView)) (assert (ancestor certified final)) (check-sat) (pop)
(push) (assert (< certifiedView finalView)) (check-sat) (pop)
