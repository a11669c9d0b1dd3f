;;; Decides about a team's news in Emacs with mem-lsp attached through eglot, and publishes
;;; what is left: one conflict each of theirs, mine and both, then all that conflicts with
;;; nothing. eglot shows no lenses, so what stands behind them is called as a command.

(load (expand-file-name "eglot_steps" (file-name-directory load-file-name)) nil t)

(defvar mem-said nil "What the server told, the newest first.")
(defvar mem-asked nil)

(advice-add 'eglot--message :before (lambda (f &rest args) (push (apply #'format f args) mem-said)))

(defun completing-read (prompt &rest _)
  (push prompt mem-asked)
  "Publish")

(defun mem-command (name)
  (eglot-execute-command (eglot-current-server) (intern (concat "mem.snapshot." name))
                         (vector (eglot--path-to-uri (directory-file-name (getenv "MEM_DIR")))))
  (mem-tell-changes))

(defun mem-move ()
  "Asks as eldoc does where somebody moves.  What a server sends right behind a reply, this
jsonrpc looks at when it sends more."
  (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams)))

(defun mem-look (name)
  (find-file (expand-file-name name (getenv "MEM_DIR")))
  (mem-wait "the server" #'eglot-current-server)
  (flymake-start))

(defun mem-decide (section choice)
  "Takes what the actions at the conflict in a section offer."
  (goto-char (point-min))
  (re-search-forward (concat "^## " section))
  (let* ((line (line-number-at-pos))
         (there (lambda () (seq-some (lambda (d) (and (equal (alist-get 'code d) "snapshot-conflict") (equal (alist-get 'line d) line))) (mem-codes)))))
    (flymake-start)
    (mem-wait (concat "the conflict in " section) there)
    (prog1 (mem-take line "quickfix" choice)
      (flymake-start)
      (mem-wait (concat "the end of the conflict in " section) (lambda () (not (funcall there)))))))

(condition-case err
    (progn
      (mem-setup)
      (find-file (expand-file-name "style.md" (getenv "MEM_DIR")))
      (apply #'eglot (eglot--guess-contact))
      (mem-look "style.md")
      (mem-set 'quickfixes (mem-decide "Theirs" "^Take theirs"))
      (mem-decide "Mine" "^Keep mine")
      (mem-decide "Both" "^Take both")
      (save-buffer)
      (mem-look "MEMORY.md")
      (mem-wait "news" (lambda () (mem-has "snapshot-newer")))
      (mem-command "takeAll")
      (save-some-buffers t)
      (flymake-start)
      (mem-wait "the end of the news" (lambda () (not (mem-has "snapshot-newer"))))
      (mem-command "publish")
      (mem-wait "the publication" (lambda ()
                                     (mem-move)
                                     (seq-some (lambda (m) (string-match-p "Published to" m)) mem-said)))
      (mem-set 'questions (apply #'vector (nreverse mem-asked)))
      (eglot-shutdown (eglot-current-server))
      (mem-set 'alive t)
      (mem-finish nil))
  (error (mem-finish (format "%S; it was told %S and asked %S" err mem-said mem-asked))))
