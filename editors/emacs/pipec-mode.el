;;; pipec-mode.el --- Programs and step IR of pipec  -*- lexical-binding: t -*-
;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: languages

;;; Commentary:
;; Highlighting and indentation of `.pipe' and `.steps' files, and the language
;; server pipec-lsp as a server of Eglot.

;;; Code:

(require 'pipec-words)

(defvar eglot-server-programs)
(declare-function eglot-current-server "eglot")
(declare-function jsonrpc-request "jsonrpc")

(defvar pipec-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?_ "w" table)
    (modify-syntax-entry ?/ ". 12" table)
    (modify-syntax-entry ?\n ">" table)
    (dolist (operator (string-to-list "+-*%<>=!&|?:"))
      (modify-syntax-entry operator "." table))
    table))

(defconst pipec-font-lock-keywords
  `((,(rx (any ";{}") (* (any " \t\n")) (group (eval `(or ,@pipec-words-items))) word-boundary
          (or (seq (+ blank) (any alnum "_\"(-")) (seq (* blank) "{")))
     1 'font-lock-keyword-face)
    (,(rx bow (or "schedule" "phase") (+ blank) (group (+ word))) 1 'font-lock-type-face)
    (,(rx bow (or "fn" "pattern") (+ blank) (group (+ word))) 1 'font-lock-function-name-face)
    (,(rx bow "placement" (+ blank) (group (eval `(or ,@pipec-words-placements))) eow) 1 'font-lock-constant-face)
    (,(rx (group (eval `(or ,@pipec-words-functions))) (* blank) "(") 1 'font-lock-builtin-face)
    (,(regexp-opt pipec-words-keywords 'words) . 'font-lock-keyword-face)
    (,(regexp-opt pipec-words-values 'words) . 'font-lock-variable-name-face)
    (,(regexp-opt pipec-words-letters 'words) . 'font-lock-constant-face)
    (,(regexp-opt pipec-words-figures 'words) . 'font-lock-builtin-face)))

(defconst pipec-steps-font-lock-keywords
  `(("^\\s-*\\(\\w+\\):" 1 'font-lock-type-face)
    ("@\\w+" . 'font-lock-type-face)
    ("^pipec-steps\\>" . 'font-lock-preprocessor-face)
    (,(regexp-opt pipec-words-steps-keywords 'words) . 'font-lock-keyword-face)
    (,(regexp-opt pipec-words-steps-kinds 'words) . 'font-lock-constant-face)
    ("\\_<[smrt][0-9]+\\_>" . 'font-lock-variable-name-face)))

(defun pipec-indent-line ()
  "Indent by two columns per bracket that is open at the beginning of the line."
  (let ((depth (save-excursion
                 (back-to-indentation)
                 (- (car (syntax-ppss)) (if (looking-at "\\s)") 1 0)))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to (max 0 (* 2 depth)))
      (save-excursion (indent-line-to (max 0 (* 2 depth)))))))

;;;###autoload
(define-derived-mode pipec-mode prog-mode "pipec"
  "Major mode for programs of pipec."
  (setq-local comment-start "// ")
  (setq-local comment-start-skip "//+\\s-*")
  (setq-local comment-end "")
  (setq-local indent-tabs-mode nil)
  (setq-local indent-line-function #'pipec-indent-line)
  (setq-local electric-indent-chars (append "{}()" electric-indent-chars))
  (setq-local font-lock-defaults '(pipec-font-lock-keywords)))

;;;###autoload
(define-derived-mode pipec-steps-mode pipec-mode "pipec-steps"
  "Major mode for step IR of pipec."
  (setq-local font-lock-defaults '(pipec-steps-font-lock-keywords)))

(defun pipec-uri (file)
  "The URI of FILE, an absolute name."
  (concat "file://" (mapconcat #'url-hexify-string (split-string file "/") "/")))

(defun pipec-show-timeline ()
  "Open a picture of the first schedule of this buffer in the browser.
The buffer must be managed by Eglot."
  (interactive)
  (let ((timeline (jsonrpc-request (or (eglot-current-server) (user-error "Eglot does not manage this buffer"))
                                   :workspace/executeCommand
                                   (list :command "pipec.showTimeline"
                                         :arguments (vector (pipec-uri buffer-file-name)))))
        (file (make-temp-file "pipec-" nil ".html")))
    (with-temp-file file (insert (plist-get timeline :text)))
    (browse-url-of-file file)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.pipe\\'" . pipec-mode))
;;;###autoload
(add-to-list 'auto-mode-alist '("\\.steps\\'" . pipec-steps-mode))

(put 'pipec-mode 'eglot-language-id "pipe")
(put 'pipec-steps-mode 'eglot-language-id "pipec-steps")
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '((pipec-mode pipec-steps-mode) "pipec-lsp")))

(provide 'pipec-mode)
;;; pipec-mode.el ends here
