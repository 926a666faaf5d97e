; Final by 2f+1 commits: f+1 correct replicas hold its certificate, or that of a descendant, of that
; view, and one of them is among the reports. So the highest certificate does not rank below it.
(assert (>= certifiedView finalView))
(assert (=> (= certifiedView finalView)
  (and (>= (height certified) (height final))
       (or (ancestor final certified) (ancestor certified final)))))
; By induction, the votes of correct replicas in later views are on chains through the block.
(assert (forall ((r Replica)) (=> (and (correct r) (reports r) (> (votedView r) finalView))
  (ancestor final (votedTip r)))))

(assert (not (ancestor final base)))
(push) (assert (> certifiedView finalView)) (check-sat) (pop)
(push) (assert (= certifiedView finalView)) (check-sat) (pop)
